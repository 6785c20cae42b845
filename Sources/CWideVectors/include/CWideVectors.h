// The loops of the resampler in vectors of 32 bytes. Swift compiles for the oldest processor that it
// supports, which has vectors of 16, and cannot compile one function for a newer one.

#ifndef FIC_WIDE_VECTORS_H
#define FIC_WIDE_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this processor has such vectors: AVX2, on x86. Otherwise the functions below trap.
bool fic_has_wide_vectors(void);

// Adds up rows of bytes: of each byte times 256 times its row's weight the upper 16 bits, and half of
// `count` for the bits that were dropped. `following` rows behind those are brought into the cache.
void fic_wide_add_rows(
    const uint8_t *rows, size_t row_bytes, const uint16_t *weights, size_t count, size_t following,
    uint16_t *sums, size_t byte_count);

// What pixels of four channels are made of, for four of them together; the last four are filled up
// with pixels that weigh nothing.
typedef struct {
  // For each pixel: the byte of the sums at which its first tap is.
  const uint32_t *starts;
  // For each four: pairs of taps that have a weight in any of them. Sums are read as far, from where
  // each pixel starts.
  const uint32_t *pair_counts;
  // For each four, `stride` numbers apart and at multiples of 32 bytes. First what is added to each
  // channel, of the first, third, second and fourth pixel. Then for each pair of taps the weights of
  // the four pixels, in their order: that of the first tap four times, then that of the second.
  const uint16_t *vectors;
  size_t stride;
} fic_wide_weights;

// Makes `count` pixels from sums of rows: of each sum times its weight the upper 16 bits are added
// up, and of that the upper byte is the channel. Writes `count` times four bytes.
void fic_wide_add_pixels(
    const uint16_t *sums, const fic_wide_weights *weights, size_t count, uint8_t *output);

#endif
