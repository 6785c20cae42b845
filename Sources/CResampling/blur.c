#include "CResampling.h"

#include <string.h>

// Columns of bytes that go through the passes together, sixteen pixels: their rows stay in the processor's cache
// between the passes, and their sums in its registers.
enum { strip = 64 };

// One pass down a strip.
static inline __attribute__((always_inline)) void slide(
    const uint8_t *restrict input, uint8_t *restrict output, size_t count, fic_box box) {
  // The rows that the box enters and leaves; before the first and behind the last, these are repeated.
  size_t radius = box.radius, last = count - 1;
  uint32_t sums[strip];
  size_t inner = radius < last ? radius : last;
  for (int i = 0; i < strip; i++)
    sums[i] = input[i] * (uint32_t)(radius + 1)
        + input[last * strip + (size_t)i] * (uint32_t)(radius - inner);
  for (size_t y = 1; y <= inner; y++)
    for (int i = 0; i < strip; i++) sums[i] += input[y * strip + (size_t)i];

  for (size_t y = 0; y < count; y++) {
    size_t next = y + radius + 1 < last ? y + radius + 1 : last;
    const uint8_t *right = input + next * strip;
    const uint8_t *left = input + (y > radius ? y - radius - 1 : 0) * strip;
    const uint8_t *first = input + (y > radius ? y - radius : 0) * strip;
    uint8_t *target = output + y * strip;
    for (int i = 0; i < strip; i++) {
      uint32_t edges = (uint32_t)left[i] + right[i];
      target[i] = (uint8_t)((sums[i] * box.weight + edges * box.edge_weight + (1 << 23)) >> 24);
      sums[i] += (uint32_t)right[i] - first[i];
    }
  }
}

// Three passes; the result is in `second`.
static inline __attribute__((always_inline)) void slide_thrice(
    uint8_t *first, uint8_t *second, size_t count, fic_box box) {
  slide(first, second, count, box);
  slide(second, first, count, box);
  slide(first, second, count, box);
}

static void slide_narrow(uint8_t *first, uint8_t *second, size_t count, fic_box box) {
  slide_thrice(first, second, count, box);
}

#if defined(__x86_64__)

// For processors with AVX2; the rest of the program runs on older ones, too.
__attribute__((target("avx2"))) static void slide_wide(
    uint8_t *first, uint8_t *second, size_t count, fic_box box) {
  slide_thrice(first, second, count, box);
}

#endif

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t fic_blur_scratch(size_t width, size_t height) {
  return (width > height ? width : height) * strip * 2;
}

void fic_blur(fic_pixels pixels, fic_box box, uint8_t *scratch) {
  void (*slide_best)(uint8_t *, uint8_t *, size_t, fic_box) = slide_narrow;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) slide_best = slide_wide;
#endif
  uint8_t *first = scratch;
  uint8_t *second = scratch + fic_blur_scratch(pixels.width, pixels.height) / 2;
  size_t row_bytes = pixels.row_bytes;
  // Along rows: a strip is sixteen of them, turned by a quarter.
  for (size_t y = 0; y < pixels.height; y += strip / 4) {
    uint8_t *rows = pixels.bytes + y * row_bytes;
    size_t count = least(strip / 4, pixels.height - y);
    for (size_t x = 0; x < pixels.width; x++)
      for (size_t i = 0; i < count; i++)
        memcpy(first + x * strip + i * 4, rows + i * row_bytes + x * 4, 4);
    slide_best(first, second, pixels.width, box);
    for (size_t x = 0; x < pixels.width; x++)
      for (size_t i = 0; i < count; i++)
        memcpy(rows + i * row_bytes + x * 4, second + x * strip + i * 4, 4);
  }
  for (size_t x = 0; x < pixels.width * 4; x += strip) {
    uint8_t *columns = pixels.bytes + x;
    size_t count = least(strip, pixels.width * 4 - x);
    for (size_t y = 0; y < pixels.height; y++)
      memcpy(first + y * strip, columns + y * row_bytes, count);
    slide_best(first, second, pixels.height, box);
    for (size_t y = 0; y < pixels.height; y++)
      memcpy(columns + y * row_bytes, second + y * strip, count);
  }
}
