#ifndef FIC_MEMORY_HINTS_H
#define FIC_MEMORY_HINTS_H

#include <stddef.h>

// Asks the processor to bring the 64 bytes around an address into its cache while it does something
// else. Any address will do: what cannot be read is left alone.
static inline void fic_expect(const void *address) { __builtin_prefetch(address); }

// Tells the address sanitizer that nobody may touch some bytes, as if they had been freed, and that
// they may be touched again. They do nothing in builds without it.
void fic_forbid(const void *start, size_t count);
void fic_permit(const void *start, size_t count);

#endif
