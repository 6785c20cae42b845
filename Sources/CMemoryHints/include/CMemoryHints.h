#ifndef FIC_MEMORY_HINTS_H
#define FIC_MEMORY_HINTS_H

// Asks the processor to bring the 64 bytes around an address into its cache while it does something
// else. Any address will do: what cannot be read is left alone.
static inline void fic_expect(const void *address) { __builtin_prefetch(address); }

#endif
