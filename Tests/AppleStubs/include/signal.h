#pragma once

#include <sys/types.h>

#define SIGBUS 10
#define SIG_DFL (void (*)(int))0
#define SIG_IGN (void (*)(int))1
#define SA_ONSTACK 0x0001
#define SA_SIGINFO 0x0040
#define SI_USER 0x10001
#define SI_QUEUE 0x10002

typedef uint32_t sigset_t;

union sigval {
  int sival_int;
  void *sival_ptr;
};

typedef struct __siginfo {
  int si_signo;
  int si_errno;
  int si_code;
  pid_t si_pid;
  uid_t si_uid;
  int si_status;
  void *si_addr;
  union sigval si_value;
  long si_band;
  unsigned long __pad[7];
} siginfo_t;

struct sigaction {
  union {
    void (*__sa_handler)(int);
    void (*__sa_sigaction)(int, siginfo_t *, void *);
  } __sigaction_u;
  sigset_t sa_mask;
  int sa_flags;
};
#define sa_handler __sigaction_u.__sa_handler
#define sa_sigaction __sigaction_u.__sa_sigaction

int raise(int);
int sigaction(int, const struct sigaction *restrict, struct sigaction *restrict);
int sigemptyset(sigset_t *);
#define sigemptyset(set) (*(set) = 0, 0)
void (*signal(int, void (*)(int)))(int);
