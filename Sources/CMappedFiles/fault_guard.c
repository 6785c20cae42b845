// Darwin hides MAP_ANON, and glibc sigaction, from programs that ask for less.
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE

#include "CMappedFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANGE_COUNT = 1024 };

// An entry is free while `start` is 0 and being filled while it is 1, an address at which no
// mapping begins.
static struct {
  _Atomic(uintptr_t) start;
  _Atomic(uintptr_t) end;
  _Atomic(int) access;
} ranges[RANGE_COUNT];

static atomic_flag is_installed = ATOMIC_FLAG_INIT;
static struct sigaction previous;
static uintptr_t page_size;
static int wake_descriptor = -1;

int fic_guard_add(const void *start, size_t byte_count, int is_writable) {
  uintptr_t first = (uintptr_t)start;
  for (int number = 0; number < RANGE_COUNT; number++) {
    uintptr_t none = 0;
    if (!atomic_compare_exchange_strong(&ranges[number].start, &none, 1)) continue;
    atomic_store(&ranges[number].end, first + byte_count);
    atomic_store(&ranges[number].access, is_writable ? PROT_READ | PROT_WRITE : PROT_READ);
    atomic_store(&ranges[number].start, first);
    return number;
  }
  return -1;
}

void fic_guard_remove(int number) {
  if (number >= 0) atomic_store(&ranges[number].start, 0);
}

// The access to a guarded address, 0 for all others.
static int guarded_access(uintptr_t address) {
  for (int number = 0; number < RANGE_COUNT; number++) {
    uintptr_t start = atomic_load(&ranges[number].start);
    uintptr_t end = atomic_load(&ranges[number].end);
    int access = atomic_load(&ranges[number].access);
    // Read again: another thread may have reused the entry between the two.
    if (start > 1 && start <= address && address < end &&
        atomic_load(&ranges[number].start) == start) {
      return access;
    }
  }
  return 0;
}

// Passes the signal to the handler that it would have gone to without the guard.
static void pass_on(int number, siginfo_t *info, void *context, int is_sent) {
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler == SIG_IGN && is_sent) {
    return;
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    // On return the instruction faults again, and the system ends the process as it would have.
    signal(number, SIG_DFL);
    if (is_sent) raise(number);
  } else {
    previous.sa_handler(number);
  }
}

static void handle(int number, siginfo_t *info, void *context) {
  int saved = errno;
  int is_sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
  uintptr_t page = (uintptr_t)info->si_addr & ~(page_size - 1);
  int access = is_sent ? 0 : guarded_access((uintptr_t)info->si_addr);
  // mmap is not on POSIX's list of calls for handlers, but takes no lock of the C library's on any
  // system that we know. The page is private: it belongs to no file any more.
  if (access != 0 &&
      mmap((void *)page, page_size, access, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) !=
          MAP_FAILED) {
    // A full pipe holds bytes enough to wake its reader.
    ssize_t written = write(wake_descriptor, "", 1);
    (void)written;
  } else {
    pass_on(number, info, context, is_sent);
  }
  errno = saved;
}

int fic_guard_install(void) {
  if (atomic_flag_test_and_set(&is_installed)) return -1;
  int ends[2] = {-1, -1};
  page_size = (uintptr_t)getpagesize();
  if (pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 &&
      fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 &&
      fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0) {
    wake_descriptor = ends[1];
    struct sigaction action = {0};
    action.sa_sigaction = handle;
    // On the alternate stack, where there is one: the fault may have come with little stack left.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    // Read first, so that no fault finds the new handler without the old one.
    if (sigaction(SIGBUS, NULL, &previous) == 0 && sigaction(SIGBUS, &action, NULL) == 0) {
      return ends[0];
    }
  }
  int code = errno;
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
  atomic_flag_clear(&is_installed);
  errno = code;
  return -2;
}
