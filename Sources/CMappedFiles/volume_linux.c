#ifdef __linux__

#include "CMappedFiles.h"

#include <sys/vfs.h>

uint32_t fic_volume_type(int descriptor) {
  struct statfs status;
  // The field is wider on some machines and signed on others; the numbers have 32 bits.
  return fstatfs(descriptor, &status) == 0 ? (uint32_t)status.f_type : 0;
}

#endif
