// The resampler's loops in 16-bit integers, which take most of the time of a drawing; one for colours; and filters. C
// can compile a function for a newer processor than the rest of the program. Its vectors stay bearable without
// optimisation, so debug and release builds draw with the same loops.

#ifndef FIC_RESAMPLING_H
#define FIC_RESAMPLING_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The weights of output pixels of four channels, in groups of four pixels; the last group is filled
// up with pixels that weigh nothing.
typedef struct {
  // For each pixel: the index of the first of its first tap's four sums.
  const uint32_t *starts;
  // For each group: how many pairs of taps the loops read from where each pixel starts. The pixel
  // with the most taps decides; behind the last tap of the others the weights are zero.
  const uint32_t *pair_counts;
  // For each group, `stride` numbers apart and at multiples of 32 bytes. First the rounding of each
  // channel of the four pixels. Then for each pair of taps, pixel by pixel, the weight of the first
  // tap four times and the weight of the second tap four times.
  const uint16_t *vectors;
  size_t stride;
  // The number of output pixels.
  size_t count;
} fic_pixel_weights;

// Both halves of resampling, in one kind of vectors. All kinds make the same numbers.
typedef struct {
  // Adds up `count` rows of bytes, `row_bytes` apart. Each sum is `count / 2`, because each product
  // drops half of its last bit on average, plus for each row byte * weight / 256, rounded down.
  // Brings `following` more rows into the cache meanwhile: a decoded image lies in memory farther
  // away, and waiting for it took a third of the time.
  void (*add_rows)(
      const uint8_t *rows, size_t row_bytes, const uint16_t *weights, size_t count,
      size_t following, uint16_t *sums, size_t byte_count);

  // Makes pixels of sums of rows. Each channel is the upper byte of its rounding plus for each tap
  // sum * weight / 65536, rounded down.
  void (*add_pixels)(const uint16_t *sums, fic_pixel_weights weights, uint8_t *output);
} fic_loops;

// One number at a time, on every processor: the definition of the other two.
fic_loops fic_plain_loops(void);

// Vectors of 16 bytes where the processor has them: SSE2 on x86, NEON on ARM.
fic_loops fic_narrow_loops(void);

// The widest vectors of this processor: 32 bytes on x86 with AVX2.
fic_loops fic_widest_loops(void);

// Converts colours of B, G, R and an untouched byte from one space to another in place. `matrix` has the rows
// that make red, green and blue light of the three; `light` is that of each of the 256 numbers, and `numbers` those of
// `steps` steps of light and of none.
void fic_convert_colors(
    uint8_t *pixels, size_t count, const float *matrix, const float *light,
    const uint8_t *numbers, float steps);

// Pixels of blue, green, red and alpha, in rows. Colours are multiplied by alpha.
typedef struct {
  uint8_t *bytes;
  size_t width, height, row_bytes;
} fic_pixels;

// A box that is moved over pixels: `radius` pixels on both sides of the middle one weigh `weight` each, like the middle
// one, and the next one on either side `edge_weight`. The sum is 2^24, or less by the rounding.
typedef struct {
  uint32_t radius, weight, edge_weight;
} fic_box;

// Three passes with a box along the rows, and three along the columns, each rounded to bytes. Beyond an edge lies its
// outermost pixel. `scratch` has `fic_blur_scratch` bytes, of any value.
void fic_blur(fic_pixels pixels, fic_box box, uint8_t *scratch);
size_t fic_blur_scratch(size_t width, size_t height);

// Makes blue, green and red each a sum of blue, green, red and alpha, from none to alpha. `matrix` has the factors of
// blue, then those of green and red.
void fic_mix_colors(fic_pixels pixels, const float *matrix);

// Looks colours up, not multiplied by alpha, in 256 bytes each for blue, green and red.
void fic_replace_colors(fic_pixels pixels, const uint8_t *tables);

// Which of hue, saturation and luminosity are the source's in a blend; the others stay as they are.
typedef enum { fic_hue, fic_saturation, fic_color, fic_luminosity } fic_part;

// Blends a colour over pixels; ISO 32000, 11.3.5.3. `source` is its blue, green, red and alpha, from 0 to 1, not
// multiplied.
void fic_blend_part(fic_pixels pixels, const float *source, fic_part part);

// Lays a pixel over some in a row.
void fic_cover(uint8_t *row, size_t count, const uint8_t *color);

// Exchanges left and right, and top and bottom.
void fic_flip_rows(fic_pixels pixels);
void fic_flip_columns(fic_pixels pixels);

#pragma clang assume_nonnull end

#endif
