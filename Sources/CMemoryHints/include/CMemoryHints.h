#ifndef FIC_MEMORY_HINTS_H
#define FIC_MEMORY_HINTS_H

#include <stddef.h>

// Asks the processor to bring the 64 bytes around an address into its cache while it does something
// else. Any address will do: the processor ignores addresses that it cannot read.
static inline void fic_expect(const void *address) { __builtin_prefetch(address); }

// Tell the address sanitizer to report every access to some bytes, as if they had been freed, and
// to allow accesses again. They do nothing in builds without it.
void fic_forbid(const void *start, size_t count);
void fic_permit(const void *start, size_t count);

#endif
