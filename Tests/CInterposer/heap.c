#include "CInterposer.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__linux__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>

// Several sums, each on a cache line of its own, so that threads seldom write the same one. A block
// may be freed by another thread than took it, so one sum alone says nothing and may be negative.
enum { SUM_COUNT = 32 };
static struct {
  _Alignas(64) atomic_long bytes;
} sums[SUM_COUNT];

// glibc exports its own functions under these names; this program's malloc(3) comes before the C
// library's for every library in the process.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void count(long bytes) {
  static __thread char here;
  // Threads' own variables lie pages apart.
  unsigned sum = (unsigned)((uintptr_t)&here >> 12) % SUM_COUNT;
  atomic_fetch_add_explicit(&sums[sum].bytes, bytes, memory_order_relaxed);
}

// What the block can hold and not what was asked for, since free(3) is told no size.
static void *counted(void *memory) {
  if (memory) count((long)malloc_usable_size(memory));
  return memory;
}

long interposer_bytes_in_use(void) {
  long bytes = 0;
  for (int sum = 0; sum < SUM_COUNT; sum++) bytes += atomic_load(&sums[sum].bytes);
  return bytes;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t number, size_t size) { return counted(__libc_calloc(number, size)); }

void *realloc(void *memory, size_t size) {
  long before = (long)malloc_usable_size(memory);
  void *moved = __libc_realloc(memory, size);
  // A block that cannot be enlarged stays; one of no size is freed.
  if (moved || size == 0) count(-before);
  return counted(moved);
}

void *memalign(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

void free(void *memory) {
  if (memory) count(-(long)malloc_usable_size(memory));
  __libc_free(memory);
}

#else

long interposer_bytes_in_use(void) { return -1; }

#endif
