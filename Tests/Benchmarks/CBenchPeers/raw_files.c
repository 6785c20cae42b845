#include "floors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// A file of raw pixels for each image, read into private memory.

static int store_file(void *store, const uint8_t *key, const void *pixels) {
  const bench_room *room = store;
  char path[4096];
  bench_path(path, sizeof path, room, key, "raw");
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  size_t size = bench_room_bytes(room);
  ssize_t written = write(file, pixels, size);
  close(file);
  return written == (ssize_t)size ? 0 : -1;
}

static int get_files(void *store, const uint8_t *keys, size_t count, int reads) {
  const bench_room *room = store;
  size_t size = bench_room_bytes(room);
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    char path[4096];
    bench_path(path, sizeof path, room, keys + index * 16, "raw");
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    void *pixels = malloc(size);
    ssize_t got = pixels ? read(file, pixels, size) : -1;
    close(file);
    if (got == (ssize_t)size && reads) sum += room->reader(pixels, size);
    free(pixels);
    if (got != (ssize_t)size) return -1;
  }
  bench_keep(sum);
  return 0;
}

const bench_store bench_raw_files = {
  .name = "raw files",
  .reason = "a file of pixels for each image, opened, read and closed: no decode either, and what "
            "is obtained is private memory",
  .roles = BENCH_TOUCH | BENCH_STORE,
  .batch = 200,
  .open = bench_open_folder,
  .store = store_file,
  .get = get_files,
  .close = free,
};
