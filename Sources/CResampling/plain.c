#include "CResampling.h"

static void add_rows(
    const uint8_t *rows, size_t row_bytes, const uint16_t *weights, size_t count, size_t following,
    uint16_t *sums, size_t byte_count) {
  (void)following;
  for (size_t column = 0; column < byte_count; column++) {
    uint32_t sum = (uint32_t)(count / 2);
    for (size_t i = 0; i < count; i++)
      sum += (uint32_t)rows[i * row_bytes + column] * weights[i] >> 8;
    sums[column] = (uint16_t)sum;
  }
}

static void add_pixels(const uint16_t *sums, fic_pixel_weights weights, uint8_t *output) {
  for (size_t i = 0; i < weights.count * 4; i++) {
    const uint16_t *vectors = weights.vectors + i / 16 * weights.stride;
    const uint16_t *taps = sums + weights.starts[i / 4] + i % 4;
    uint32_t sum = vectors[i % 16];
    for (size_t tap = 0; tap < weights.pair_counts[i / 16] * (size_t)2; tap++) {
      uint32_t weight = vectors[16 + tap / 2 * 32 + i / 4 % 4 * 8 + tap % 2 * 4];
      sum += taps[tap * 4] * weight >> 16;
    }
    output[i] = (uint8_t)(sum >> 8);
  }
}

fic_loops fic_plain_loops(void) { return (fic_loops){add_rows, add_pixels}; }
