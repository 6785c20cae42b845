#include "floors.h"

#if defined(__linux__)

static const bench_store *const stores[] = {
  &bench_mapped_floor, &bench_raw_files, &bench_jpeg_files,
};

#else

// Without libjpeg there is nothing to decode a thumbnail with in C.
static const bench_store *const stores[] = {&bench_mapped_floor, &bench_raw_files};

int bench_decode_jpeg(const char *file, int eighths, size_t *width, size_t *height) {
  (void)file, (void)eighths, (void)width, (void)height;
  return -1;
}

#endif

static const bench_peers floors = {
  .version = BENCH_PEERS_VERSION,
  .store_count = sizeof stores / sizeof stores[0],
  .stores = stores,
};

const bench_peers *bench_floors(void) { return &floors; }
