#ifndef FIC_MEMORY_H
#define FIC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <lcms2.h>

// What Little CMS may take while it reads a profile. It answers for a broken profile and for a lack of memory alike, so
// that only the one who gives the memory can tell them apart.
typedef struct {
  size_t largest;     // bytes of one block; what asks for more is the profile's fault
  bool was_refused;   // there was no memory
} fic_color_memory;

// A context that takes its memory so, and keeps the address. Null when there is no memory.
cmsContext fic_color_memory_open(fic_color_memory *memory);

#endif
