#ifdef __linux__

// For memfd_create(2).
#define _GNU_SOURCE

#include "CMappedFiles.h"

#include <sys/mman.h>

int fic_memory_file(void) { return memfd_create("imagetable", MFD_CLOEXEC); }

#endif
