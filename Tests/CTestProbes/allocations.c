#include "CTestProbes.h"

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

int probe_counts_allocations(void) { return 0; }
long probe_allocation_count(void) { return 0; }
size_t probe_largest_allocation(void) { return 0; }
void probe_refuse_allocations(size_t byte_count) { (void)byte_count; }

#else

static __thread long count;
static __thread size_t largest;
static __thread size_t refused = SIZE_MAX;

int probe_counts_allocations(void) { return 1; }
long probe_allocation_count(void) { return count; }
void probe_refuse_allocations(size_t byte_count) { refused = byte_count; }

size_t probe_largest_allocation(void) {
  size_t result = largest;
  largest = 0;
  return result;
}

static void note(size_t size) {
  count++;
  if (size > largest) largest = size;
}

// The test executable's own malloc(3) comes before the C library's for every library in the
// process. glibc exports the real ones under these names.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  note(size);
  return size < refused ? __libc_malloc(size) : NULL;
}

void *calloc(size_t number, size_t size) {
  note(number * size);
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  note(size);
  return size < refused ? __libc_realloc(memory, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  note(size);
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : 12;
}

#endif
#endif
