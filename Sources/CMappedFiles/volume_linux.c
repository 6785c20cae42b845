#ifdef __linux__

// For statx(2).
#define _GNU_SOURCE

#include "CMappedFiles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

int64_t fic_birth_time(int descriptor) {
  struct statx status;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0 ||
      !(status.stx_mask & STATX_BTIME)) {
    return 0;
  }
  return status.stx_btime.tv_sec * INT64_C(1000000000) + status.stx_btime.tv_nsec;
}

uint32_t fic_volume_type(int descriptor) {
  struct statfs status;
  // The field is wider on some machines and signed on others; the numbers have 32 bits.
  return fstatfs(descriptor, &status) == 0 ? (uint32_t)status.f_type : 0;
}

#endif
