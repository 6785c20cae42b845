// Encoders for images that the product reads but never writes. For tests only: a failure ends the
// process.

#ifndef CTESTIMAGES_H
#define CTESTIMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes that the caller frees with free(3).
typedef struct {
  uint8_t *bytes;
  size_t count;
} fic_test_bytes;

typedef struct {
  uint32_t width, height;
  uint32_t components;      // of `pixels`: 1 gray, 3 red green blue, 4 inks as they are to be stored
  bool progressive;
  bool ycck;                // inks are stored as YCCK
  bool adobe;               // writes an Adobe segment
  bool rgb;                 // stores red, green and blue as they are
  uint32_t h_sampling, v_sampling;   // of the first component, 1 to 4
  uint32_t restart_rows;    // rows of blocks between two restart markers; 0 for none
  bool scan_per_component;
  bool arithmetic;          // codes instead of Huffman's
  int quality;
  const uint8_t *profile;
  size_t profile_count;
} fic_test_jpeg;

fic_test_bytes fic_test_encode_jpeg(fic_test_jpeg options, const uint8_t *pixels);

typedef struct {
  uint32_t width, height;
  int color_type;           // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha
  int bit_depth;
  bool interlaced;
  const uint8_t *palette;   // red, green, blue
  uint32_t palette_count;
  const uint8_t *transparency;       // tRNS: alpha per palette entry
  uint32_t transparency_count;
  int32_t transparent_color[3];      // tRNS of gray and RGB; negative for none
  const uint8_t *profile;
  size_t profile_count;
} fic_test_png;

// `rows` are packed as in the file, without filter bytes.
fic_test_bytes fic_test_encode_png(fic_test_png options, const uint8_t *rows);

// `pixels` are red, green, blue, alpha, not multiplied.
fic_test_bytes fic_test_encode_webp(
    uint32_t width, uint32_t height, const uint8_t *pixels, bool lossless, float quality);

typedef struct {
  uint32_t width, height;
  uint32_t depth;           // 8, 10 or 12
  uint32_t sampling;        // 444, 422, 420 or 400
  bool exact;               // without loss, of depth 8 and sampling 444
  bool alpha;               // otherwise the fourth byte is left out
  bool premultiplied;       // stored as such
  int32_t primaries, transfer;   // ITU-T H.273
  int32_t rotation;         // quarter turns against the clock; negative for none
  int32_t mirroring;        // 0 top to bottom, 1 left to right; negative for none
  uint32_t crop[4];         // x, y, width and height of the shown part; a width of 0 for none
  uint32_t columns, rows;   // cells of a grid of equal ones; 0 for none
  uint32_t frames;          // of an animation whose later frames are black; 0 for a still image
  const uint8_t *profile;
  size_t profile_count;
} fic_test_avif;

// `pixels` are red, green, blue, alpha, not multiplied. Only in builds with the trait AVIF.
fic_test_bytes fic_test_encode_avif(fic_test_avif options, const uint8_t *pixels);

typedef struct {
  uint32_t width, height;
  bool av1;                 // AVIF instead of HEIC
  bool exact;               // without loss; otherwise with coarse colours
  uint32_t depth;           // 8, 10 or 12
  bool alpha;               // otherwise the fourth byte is left out
  int32_t primaries, transfer;   // ITU-T H.273
  uint32_t orientation;     // 1 to 8 as in EXIF, by the container's rotation and mirroring
  const uint8_t *profile;
  size_t profile_count;
} fic_test_heif;

// `pixels` are red, green, blue, alpha, not multiplied. Only in builds with the trait HEIF.
fic_test_bytes fic_test_encode_heif(fic_test_heif options, const uint8_t *pixels);

typedef struct {
  uint32_t width, height;
  uint32_t channels;        // 1 to 4
  uint32_t bit_depth;       // 1, 2, 4, 8 or 16
  double wavelength;        // in pixels
} fic_test_waves;

// Writes rows, packed as in a PNG file, of slopes and waves that no turn or mirror image of them equals. For large
// images, which Swift without optimisation paints slowly.
void fic_test_paint_waves(fic_test_waves waves, uint8_t *rows);

// One of their samples, in 16 bits; the rows have its highest bits, give or take one.
uint16_t fic_test_wave(fic_test_waves waves, uint32_t channel, uint32_t x, uint32_t y);

// The mean of the squared differences of bytes, and their largest difference.
double fic_test_mean_square(
    const uint8_t *first, const uint8_t *second, size_t count, int *largest);

// A display profile with the given chromaticities (x, y of red, green, blue, white) and a plain
// gamma, or sRGB's curve where `gamma` is zero.
fic_test_bytes fic_test_rgb_profile(const double chromaticities[8], double gamma);
fic_test_bytes fic_test_gray_profile(double gamma);
fic_test_bytes fic_test_srgb_profile(void);

// An output profile in which each ink takes its light away linearly, but for yellow, which takes
// none: a rule that is easily told from the one for files without a profile.
fic_test_bytes fic_test_cmyk_profile(void);

// What Little CMS makes of one pixel: `source` has 1, 3 or 4 bytes by its profile's kind.
void fic_test_to_srgb(
    const uint8_t *profile, size_t count, const uint8_t *source, uint8_t result[3]);

// Compresses for chunks that are made by hand.
fic_test_bytes fic_test_deflate_zeros(size_t count, const uint8_t *head, size_t head_count);

#endif
