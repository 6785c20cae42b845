#ifndef BENCH_ROOM_H
#define BENCH_ROOM_H

#include "CBenchPeers.h"

#include <stdio.h>
#include <stdlib.h>

// What the stores of both targets of peers share.

/// Keeps the compiler from leaving out the computation of `value`.
static inline void bench_keep(uint64_t value) { __asm__ volatile("" : : "r"(value) : "memory"); }

static inline size_t bench_room_bytes(const bench_room *room) {
  return room->row_bytes * room->height;
}

/// Opens a store that is only a folder; free(3) closes it.
static inline void *bench_open_folder(const bench_room *room) {
  bench_room *copy = malloc(sizeof *copy);
  if (copy) *copy = *room;
  return copy;
}

/// The path of a key's file, which takes at most `size` characters.
static inline void bench_path(char *path, size_t size, const bench_room *room, const uint8_t *key,
                              const char *type) {
  char digits[33];
  for (int index = 0; index < 16; index++) snprintf(digits + 2 * index, 3, "%02x", key[index]);
  snprintf(path, size, "%s/%s.%s", room->folder, digits, type);
}

#endif
