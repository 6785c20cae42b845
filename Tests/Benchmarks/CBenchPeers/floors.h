#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H

#include "room.h"

extern const bench_store bench_mapped_floor;
extern const bench_store bench_raw_files;
#if defined(__linux__)
extern const bench_store bench_jpeg_files;
#endif

#endif
