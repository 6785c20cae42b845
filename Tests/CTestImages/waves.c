#if defined(__linux__)

#include "CTestImages.h"

#include <math.h>
#include <stdlib.h>

// Differs between channels in its slopes only, so that coarsely stored colours keep it.
static double part(double place, double count, double wavelength, uint32_t channel, bool is_row) {
  double slope = place / count;
  if (channel >> is_row & 1) slope = 1 - slope;
  return 0.05 + 0.2 * slope + 0.125 * (1 + sin(place / wavelength * 6.283185307));
}

uint16_t fic_test_wave(fic_test_waves waves, uint32_t channel, uint32_t x, uint32_t y) {
  double value = part(x + 0.5, waves.width, waves.wavelength, channel, false) +
                 part(y + 0.5, waves.height, waves.wavelength, channel, true);
  return (uint16_t)(value * 65535);
}

void fic_test_paint_waves(fic_test_waves waves, uint8_t *rows) {
  uint32_t channels = waves.channels, sample_count = waves.width * channels;
  uint16_t *across = malloc(sample_count * sizeof *across);
  if (!across) abort();
  for (uint32_t x = 0; x < sample_count; x++)
    across[x] = (uint16_t)(65535 * part(
        x / channels + 0.5, waves.width, waves.wavelength, x % channels, false));
  size_t row_bytes = ((size_t)sample_count * waves.bit_depth + 7) / 8;
  for (uint32_t y = 0; y < waves.height; y++) {
    uint16_t down[4];
    for (uint32_t channel = 0; channel < channels; channel++)
      down[channel] =
          (uint16_t)(65535 * part(y + 0.5, waves.height, waves.wavelength, channel, true));
    uint8_t *row = rows + y * row_bytes;
    uint32_t buffer = 0, bit_count = 0;
    for (uint32_t i = 0, channel = 0; i < sample_count; i++) {
      uint16_t value = (uint16_t)(across[i] + down[channel]);
      if (++channel == channels) channel = 0;
      buffer = buffer << waves.bit_depth | value >> (16 - waves.bit_depth);
      bit_count += waves.bit_depth;
      while (bit_count >= 8) *row++ = (uint8_t)(buffer >> (bit_count -= 8));
    }
    if (bit_count > 0) *row = (uint8_t)(buffer << (8 - bit_count));
  }
  free(across);
}

double fic_test_mean_square(
    const uint8_t *first, const uint8_t *second, size_t count, int *largest) {
  double sum = 0;
  *largest = 0;
  for (size_t i = 0; i < count; i++) {
    int difference = abs(first[i] - second[i]);
    if (difference > *largest) *largest = difference;
    sum += difference * difference;
  }
  return sum / (double)count;
}

#endif
