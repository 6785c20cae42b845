#ifndef C_INTERPOSER_H
#define C_INTERPOSER_H

#include <stddef.h>

// Stands between this program and the C library, for the system calls that tables make. What is
// asked for here holds for the calling thread, unless it says otherwise; a thread that asked for
// nothing gets what the C library does.

/// Whether calls can be stood before at all: not with a sanitizer, which does so itself, and on
/// Linux only. Without it all functions below have no effect.
int interposer_is_available(void);

/// Ends every wish of this thread and counts its calls from 0.
void interposer_reset(void);

/// How many calls this thread has made since, those that only give something back included.
long interposer_call_count(void);

/// When the process ends by SIGKILL.
enum interposer_part {
  interposer_before = 0,
  interposer_after = 1,
  /// Within a pwrite(2), of which some bytes are written. Only these calls are counted then.
  interposer_inside = 2,
};
void interposer_kill_at(long call, enum interposer_part part);

/// What happens to calls number `first` to `last`, the first being 0.
enum interposer_fault {
  interposer_errno = 0,
  /// Each is interrupted once by a signal, and works when it is repeated.
  interposer_interrupt = 1,
  /// Reads and writes move at most `value` bytes, and never none.
  interposer_shorten = 2,
  /// Writes say that they worked, and write zeros.
  interposer_zero = 3,
};
void interposer_fail(long first, long last, enum interposer_fault fault, long value);

/// How many calls that fault met.
long interposer_fault_count(void);

/// Answers each read of exactly `count` bytes with these, which stay the caller's; NULL ends it.
void interposer_answer_reads(const void *bytes, size_t count);

/// Holds each write of exactly `content` bytes back until the next one of `record` bytes was made.
void interposer_reverse_writes(size_t content, size_t record);

/// Lets each write of exactly `count` zeros say that it worked, and write nothing; 0 ends it.
void interposer_skip_zeros(size_t count);

/// Bytes in the blocks that the whole process has from malloc(3) and its kin and did not free, or -1
/// where calls cannot be stood before. Unlike the C library's own figures these leave out what was
/// freed and is kept for later, such as the blocks that glibc hoards for each thread.
long interposer_bytes_in_use(void);

/// Lets every flock(2) of the process succeed without asking anybody.
void interposer_grant_locks(int is_on);

/// Lets every call of the process fail that changes what is beneath two folders, whose paths are as the process opens
/// them, until the error is 0: with ENOSPC what needs room, with EROFS every change.
void interposer_refuse_changes(const char *folder, const char *other, int error);

#endif
