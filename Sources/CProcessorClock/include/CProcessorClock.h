#ifndef FIC_PROCESSOR_CLOCK_H
#define FIC_PROCESSOR_CLOCK_H

#include <stdint.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <time.h>
#endif

// The processor's own counter, which costs a third of clock_gettime(2). It counts up at a constant
// rate and is the same for all cores of the machines of today; where it is not, the order of two
// uses of a table's slots may be wrong, and nothing else.
static inline uint64_t fic_processor_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

#endif
