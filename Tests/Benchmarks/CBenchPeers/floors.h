#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H

#include "CBenchPeers.h"

/// Keeps the compiler from leaving out the computation of `value`.
static inline void bench_keep(uint64_t value) { __asm__ volatile("" : : "r"(value) : "memory"); }

/// The file of a key in a folder, which takes at most `size` characters.
void bench_file_path(char *path, size_t size, const char *folder, const uint8_t *key,
                     const char *type);

extern const bench_store bench_mapped_floor;
extern const bench_store bench_raw_files;
#if defined(__linux__)
extern const bench_store bench_jpeg_files;
#endif

#endif
