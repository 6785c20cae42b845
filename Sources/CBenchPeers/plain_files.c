#include "floors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Files without a proof: the calls that a store of originals cannot do without.

int bench_read_file(int folder, const char *name, size_t byte_count) {
  int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  void *bytes = malloc(byte_count);
  ssize_t got = bytes ? read(file, bytes, byte_count) : -1;
  close(file);
  bench_keep((uint64_t)(uintptr_t)bytes);
  free(bytes);
  return got == (ssize_t)byte_count ? 0 : -1;
}

int bench_write_file(int folder, const char *name, const void *bytes, size_t byte_count) {
  const char *begun = "bench-begun";
  int file = openat(folder, begun, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  ssize_t written = pwrite(file, bytes, byte_count, 0);
  close(file);
  if (written != (ssize_t)byte_count) return -1;
  return renameat(folder, begun, folder, name);
}

uint64_t bench_copy(const void *bytes, size_t byte_count) {
  void *copy = malloc(byte_count);
  if (!copy) return 0;
  memcpy(copy, bytes, byte_count);
  bench_keep((uint64_t)(uintptr_t)copy);
  free(copy);
  return byte_count;
}
