#include "CBenchPeers.h"

#include <string.h>

typedef uint64_t lanes __attribute__((vector_size(64)));

uint64_t bench_sum(const void *bytes, size_t byte_count) {
  const char *start = bytes;
  size_t part = byte_count / 4 & ~(size_t)63;
  lanes a = {0}, b = {0}, c = {0}, d = {0};
  for (size_t offset = 0; offset < part; offset += 64) {
    lanes next[4];
    for (int place = 0; place < 4; place++) {
      memcpy(&next[place], start + (size_t)place * part + offset, sizeof next[place]);
    }
    a += next[0];
    b += next[1];
    c += next[2];
    d += next[3];
  }
  for (size_t offset = 4 * part; offset + 64 <= byte_count; offset += 64) {
    lanes next;
    memcpy(&next, start + offset, sizeof next);
    a += next;
  }
  a += b + c + d;
  uint64_t sum = 0;
  for (int i = 0; i < 8; i++) sum += a[i];
  return sum;
}
