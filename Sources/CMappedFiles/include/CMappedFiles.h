/// Functions for reading files through mappings that Swift cannot express.
///
/// A signal handler may neither allocate nor take a lock, and Swift promises neither. POSIX alone is
/// used for it, so that all systems share one file. And Swift's module of glibc lacks statfs(2) and memfd_create(2).
#ifndef FIC_MAPPED_FILES_H
#define FIC_MAPPED_FILES_H

#include <stddef.h>
#include <stdint.h>

/// Guards a mapping, also if the handler is installed later.
///
/// Returns a number for `fic_guard_remove`, or -1 when too many mappings are guarded already; this
/// one stays unguarded then.
int fic_guard_add(const void *start, size_t byte_count, int is_writable);

/// Forgets a mapping, which has to exist until this returns.
void fic_guard_remove(int number);

/// Installs the handler of SIGBUS in front of the present one.
///
/// A fault in a guarded mapping puts a page of zeros in the place of the lost one, and a byte into
/// a pipe; any other goes to the handler that was there before. The second call changes nothing.
///
/// Returns the pipe's reading end, -1 at the second call, -2 with `errno` set on failure.
int fic_guard_install(void);

/// The number that statfs(2) gives the file system of an open file, 0 when there is none; on Linux.
uint32_t fic_volume_type(int descriptor);

/// When an open file was made, in nanoseconds since 1970; 0 where its file system does not tell; on Linux.
int64_t fic_birth_time(int descriptor);

/// Pages of a file, -1 where the system does not tell.
typedef struct {
  /// In memory.
  int64_t resident;
  /// In memory, and not on the disk yet.
  int64_t dirty;
} fic_page_counts;

/// Counts a file's pages in memory: by cachestat(2) on Linux, and else by mincore(2), which needs a mapping
/// of the file, `NULL` for none.
fic_page_counts fic_count_pages(int descriptor, const void *mapping, size_t length);

/// An open file of memory that no directory names, -1 with `errno` set on failure; on Linux.
int fic_memory_file(void);

#endif
