#ifndef FIC_MEMORY_HINTS_H
#define FIC_MEMORY_HINTS_H

#include <stddef.h>

// Asks the processor to bring the 64 bytes around an address into its cache meanwhile. Any address
// is allowed: an unreadable one is ignored.
static inline void fic_expect(const void *address) { __builtin_prefetch(address); }

// Poisons bytes for the address sanitizer, as if they had been freed, and unpoisons them. Both do
// nothing in builds without it.
void fic_forbid(const void *start, size_t count);
void fic_permit(const void *start, size_t count);

#endif
