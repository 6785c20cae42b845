#include "floors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Files without a proof: the calls that a store of originals cannot do without.

static uint64_t mixed(uint64_t first, uint64_t second) {
  unsigned __int128 product = (unsigned __int128)first * second;
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

// The cost of the store's hash, four chains of wide multiplications, without its keys and its end.
static uint64_t chained(const void *bytes, size_t byte_count) {
  uint64_t chains[4] = {1, 2, 3, 4}, words[8];
  for (size_t offset = 0; offset + sizeof words <= byte_count; offset += sizeof words) {
    memcpy(words, (const char *)bytes + offset, sizeof words);
    for (int chain = 0; chain < 4; chain++) {
      chains[chain] = mixed(words[2 * chain] ^ 5, words[2 * chain + 1] ^ chains[chain]);
    }
  }
  return chains[0] ^ chains[1] ^ chains[2] ^ chains[3];
}

int bench_read_file(int folder, const char *name, size_t byte_count, bool hashes) {
  int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  void *bytes = malloc(byte_count);
  ssize_t got = bytes ? read(file, bytes, byte_count) : -1;
  close(file);
  bench_keep(hashes && bytes ? chained(bytes, byte_count) : (uint64_t)(uintptr_t)bytes);
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
