#ifdef __linux__

// For memfd_create(2).
#define _GNU_SOURCE

#include "CMappedFiles.h"

#include <errno.h>
#include <sys/mman.h>

// MFD_NOEXEC_SEAL, which older headers lack.
#define NEVER_EXECUTED 0x0008U

int fic_memory_file(void) {
  // Systems with vm.memfd_noexec=2 refuse files without the flag; kernels before 6.3 do not know it.
  int file = memfd_create("imagetable", MFD_CLOEXEC | NEVER_EXECUTED);
  if (file == -1 && errno == EINVAL) file = memfd_create("imagetable", MFD_CLOEXEC);
  return file;
}

#endif
