#define _GNU_SOURCE
#include "CInterposer.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__linux__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct plan {
  int is_armed;
  long calls;
  long writes;
  long kill_at;
  enum interposer_part kill_part;
  long fault_first;
  long fault_last;
  enum interposer_fault fault;
  long fault_value;
  long faults;
  // Set while a call that was interrupted is repeated.
  int was_interrupted;
  const void *answer;
  size_t answer_count;
  size_t reversed_content;
  size_t reversed_record;
  size_t skipped_zeros;
  void *held;
  int held_descriptor;
  off_t held_offset;
};

static __thread struct plan plan;
static int grants_locks;

int interposer_is_available(void) { return 1; }

void interposer_reset(void) {
  free(plan.held);
  plan = (struct plan){.is_armed = 1, .kill_at = -1, .fault_first = -1, .fault_last = -1};
}

long interposer_call_count(void) { return plan.calls; }

void interposer_kill_at(long call, enum interposer_part part) {
  plan.kill_at = call;
  plan.kill_part = part;
}

void interposer_fail(long first, long last, enum interposer_fault fault, long value) {
  plan.fault_first = first;
  plan.fault_last = last;
  plan.fault = fault;
  plan.fault_value = value;
}

long interposer_fault_count(void) { return plan.faults; }

void interposer_answer_reads(const void *bytes, size_t count) {
  plan.answer = bytes;
  plan.answer_count = bytes ? count : 0;
}

void interposer_reverse_writes(size_t content, size_t record) {
  plan.reversed_content = content;
  plan.reversed_record = record;
}

void interposer_skip_zeros(size_t count) { plan.skipped_zeros = count; }

void interposer_grant_locks(int is_on) { grants_locks = is_on; }

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

enum verdict { passes, fails, is_short, is_zeroed };

// Counts a call, ends the process if that is due, and says what is to become of the call.
static enum verdict begin(void) {
  if (!plan.is_armed) return passes;
  if (plan.was_interrupted) {
    plan.was_interrupted = 0;
    return passes;
  }
  long call = plan.calls++;
  if (plan.kill_part == interposer_before && call == plan.kill_at) die();
  if (plan.fault_first < 0 || call < plan.fault_first || call > plan.fault_last) return passes;
  plan.faults++;
  switch (plan.fault) {
    case interposer_errno:
      errno = (int)plan.fault_value;
      return fails;
    case interposer_interrupt:
      plan.was_interrupted = 1;
      errno = EINTR;
      return fails;
    case interposer_shorten:
      return is_short;
    case interposer_zero:
      return is_zeroed;
  }
  return passes;
}

static void end(void) {
  if (plan.is_armed && plan.kill_part == interposer_after && plan.calls - 1 == plan.kill_at) die();
}

static size_t shortened(size_t count) {
  size_t most = plan.fault_value < 1 ? 1 : (size_t)plan.fault_value;
  return count < most ? count : most;
}

#define REAL(name, result, ...)                                                  \
  static result (*real)(__VA_ARGS__);                                            \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

// Where an error number may be lost, `end` only dies or does nothing.
#define THROUGH(call)                                                            \
  if (begin() == fails) return -1;                                               \
  __typeof__(call) answer = call;                                                \
  end();                                                                         \
  return answer

static ssize_t real_pwrite(int file, const void *bytes, size_t count, off_t offset) {
  REAL("pwrite", ssize_t, int, const void *, size_t, off_t);
  return real(file, bytes, count, offset);
}

// One write, as the kernel sees it.
static ssize_t write_once(int file, const void *bytes, size_t count, off_t offset) {
  enum verdict verdict = begin();
  if (verdict == fails) return -1;
  if (verdict == is_short) count = shortened(count);
  if (plan.is_armed && plan.kill_part == interposer_inside && plan.writes++ == plan.kill_at) {
    real_pwrite(file, bytes, count / 2, offset);
    die();
  }
  void *zeros = verdict == is_zeroed ? calloc(count, 1) : NULL;
  ssize_t answer = real_pwrite(file, zeros ? zeros : bytes, count, offset);
  free(zeros);
  end();
  return answer;
}

// Of the whole process: with which error changes beneath two folders fail; 0 for none.
static _Atomic int refusal;
static char refusing[2][PATH_MAX];

void interposer_refuse_changes(const char *folder, const char *other, int error) {
  refusal = 0;
  if (!error) return;
  snprintf(refusing[0], PATH_MAX, "%s", folder);
  snprintf(refusing[1], PATH_MAX, "%s", other);
  refusal = error;
}

static int is_refusing_path(const char *path) {
  for (int index = 0; index < 2; index++) {
    size_t length = strlen(refusing[index]);
    // Not what only begins with the folder's name.
    if (strncmp(path, refusing[index], length) == 0 && (!path[length] || path[length] == '/')) return 1;
  }
  return 0;
}

// Whether an open file is beneath a refusing folder. Keeps the error number.
static int is_refusing_file(int file) {
  int error = errno;
  char name[32], path[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t count = readlink(name, path, sizeof path - 1);
  errno = error;
  if (count < 0) return 0;
  path[count] = 0;
  return is_refusing_path(path);
}

static int is_refusing(int directory, const char *path) {
  return path[0] == '/' ? is_refusing_path(path) : is_refusing_file(directory);
}

// A full volume lets names go, and files be opened that are there; a read-only one does not.
#define REFUSE_NAME(directory, path)                                             \
  if (refusal == EROFS && is_refusing(directory, path)) return errno = EROFS, -1
#define REFUSE_NEW_NAME(directory, path)                                         \
  if (refusal && is_refusing(directory, path)) return errno = refusal, -1
#define REFUSE_BYTES(file)                                                       \
  if (refusal && is_refusing_file(file)) return errno = refusal, -1
#define REFUSE_OPENING(directory, path, flags)                                   \
  if (refusal && (flags & (O_CREAT | O_WRONLY | O_RDWR)) && is_refusing(directory, path)) { \
    int is_new = (flags & O_CREAT) && faccessat(directory, path, F_OK, 0) != 0;  \
    if (is_new || refusal == EROFS) return errno = refusal, -1;                  \
  }

static int are_zeros(const unsigned char *bytes, size_t count) {
  return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  REFUSE_BYTES(file);
  if (plan.skipped_zeros && count == plan.skipped_zeros && are_zeros(bytes, count))
    return (ssize_t)count;
  if (plan.reversed_content && count == plan.reversed_content) {
    free(plan.held);
    plan.held = malloc(count);
    if (plan.held) {
      memcpy(plan.held, bytes, count);
      plan.held_descriptor = file;
      plan.held_offset = offset;
      return (ssize_t)count;
    }
  }
  ssize_t answer = write_once(file, bytes, count, offset);
  if (plan.held && count == plan.reversed_record) {
    void *held = plan.held;
    plan.held = NULL;
    write_once(plan.held_descriptor, held, plan.reversed_content, plan.held_offset);
    free(held);
  }
  return answer;
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  enum verdict verdict = begin();
  if (verdict == fails) return -1;
  if (plan.answer_count && count == plan.answer_count) {
    memcpy(bytes, plan.answer, count);
    return (ssize_t)count;
  }
  if (verdict == is_short) count = shortened(count);
  REAL("pread", ssize_t, int, void *, size_t, off_t);
  ssize_t answer = real(file, bytes, count, offset);
  end();
  return answer;
}

static int takes_mode(int flags) { return (flags & O_CREAT) != 0; }

// The mode of a call that makes a file.
#define MODE(flags)                                                                                \
  mode_t mode = 0;                                                                                 \
  if (takes_mode(flags)) {                                                                         \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    mode = (mode_t)va_arg(list, int);                                                              \
    va_end(list);                                                                                  \
  }

int openat(int directory, const char *path, int flags, ...) {
  MODE(flags);
  REFUSE_OPENING(directory, path, flags);
  REAL("openat", int, int, const char *, int, ...);
  THROUGH(real(directory, path, flags, mode));
}

int open(const char *path, int flags, ...) {
  MODE(flags);
  REFUSE_OPENING(AT_FDCWD, path, flags);
  REAL("open", int, const char *, int, ...);
  THROUGH(real(path, flags, mode));
}

#ifdef __GLIBC__
// Of libraries that were built for large files, as SQLite: only refused.
int open64(const char *path, int flags, ...) {
  MODE(flags);
  REFUSE_OPENING(AT_FDCWD, path, flags);
  REAL("open64", int, const char *, int, ...);
  return real(path, flags, mode);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  REFUSE_BYTES(file);
  REAL("pwrite64", ssize_t, int, const void *, size_t, off64_t);
  return real(file, bytes, count, offset);
}

int ftruncate64(int file, off64_t count) {
  REFUSE_BYTES(file);
  REAL("ftruncate64", int, int, off64_t);
  return real(file, count);
}
#endif

ssize_t write(int file, const void *bytes, size_t count) {
  REFUSE_BYTES(file);
  REAL("write", ssize_t, int, const void *, size_t);
  return real(file, bytes, count);
}

int ftruncate(int file, off_t count) {
  REFUSE_BYTES(file);
  REAL("ftruncate", int, int, off_t);
  return real(file, count);
}

int posix_fallocate(int file, off_t offset, off_t count) {
  if (refusal && is_refusing_file(file)) return refusal;
  REAL("posix_fallocate", int, int, off_t, off_t);
  return real(file, offset, count);
}

int unlink(const char *path) {
  REFUSE_NAME(AT_FDCWD, path);
  REAL("unlink", int, const char *);
  return real(path);
}

int rename(const char *name, const char *new_name) {
  REFUSE_NAME(AT_FDCWD, name);
  REAL("rename", int, const char *, const char *);
  return real(name, new_name);
}

int mkdir(const char *path, mode_t mode) {
  REFUSE_NEW_NAME(AT_FDCWD, path);
  REAL("mkdir", int, const char *, mode_t);
  THROUGH(real(path, mode));
}

int fstat(int file, struct stat *status) {
  REAL("fstat", int, int, struct stat *);
  THROUGH(real(file, status));
}

int fstatat(int directory, const char *path, struct stat *status, int flags) {
  REAL("fstatat", int, int, const char *, struct stat *, int);
  THROUGH(real(directory, path, status, flags));
}

int renameat(int from, const char *name, int to, const char *new_name) {
  REFUSE_NAME(from, name);
  REAL("renameat", int, int, const char *, int, const char *);
  THROUGH(real(from, name, to, new_name));
}

int unlinkat(int directory, const char *path, int flags) {
  REFUSE_NAME(directory, path);
  REAL("unlinkat", int, int, const char *, int);
  THROUGH(real(directory, path, flags));
}

int fdatasync(int file) {
  REAL("fdatasync", int, int);
  THROUGH(real(file));
}

int fsync(int file) {
  REAL("fsync", int, int);
  THROUGH(real(file));
}

int flock(int file, int operation) {
  if (grants_locks) return 0;
  REAL("flock", int, int, int);
  // Giving a lock up cannot fail for a descriptor that is open.
  if (operation & LOCK_UN) {
    begin();
    int answer = real(file, operation);
    end();
    return answer;
  }
  THROUGH(real(file, operation));
}

void *mmap(void *where, size_t count, int protection, int flags, int file, off_t offset) {
  REAL("mmap", void *, void *, size_t, int, int, int, off_t);
  // Memory of the allocator's is not the table's business.
  if (file < 0) return real(where, count, protection, flags, file, offset);
  if (begin() == fails) return MAP_FAILED;
  void *answer = real(where, count, protection, flags, file, offset);
  end();
  return answer;
}

// close(2) leaves nothing that a caller could still do, so it never fails here; but a process may
// die at it.
int close(int file) {
  REAL("close", int, int);
  begin();
  int answer = real(file);
  end();
  return answer;
}

#else

int interposer_is_available(void) { return 0; }
void interposer_reset(void) {}
long interposer_call_count(void) { return 0; }
void interposer_kill_at(long call, enum interposer_part part) {}
void interposer_fail(long first, long last, enum interposer_fault fault, long value) {}
long interposer_fault_count(void) { return 0; }
void interposer_answer_reads(const void *bytes, size_t count) {}
void interposer_reverse_writes(size_t content, size_t record) {}
void interposer_skip_zeros(size_t count) {}
void interposer_grant_locks(int is_on) {}
void interposer_refuse_changes(const char *folder, const char *other, int error) {}

#endif
