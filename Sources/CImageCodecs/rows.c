#if defined(__linux__)

#include "CImageCodecs.h"

#include <string.h>

// a * b / 255, rounded to nearest, for a and b up to 255.
static inline uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

void fic_rows_premultiply(uint8_t *pixels, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint8_t *pixel = pixels + 4 * i;
    uint32_t alpha = pixel[3];
    pixel[0] = (uint8_t)multiply(pixel[0], alpha);
    pixel[1] = (uint8_t)multiply(pixel[1], alpha);
    pixel[2] = (uint8_t)multiply(pixel[2], alpha);
  }
}

void fic_rows_blend(const uint8_t *pixels, uint8_t *target, size_t count) {
  for (size_t i = 0; i < 4 * count; i += 4) {
    uint32_t rest = 255u - pixels[i + 3];
    if (rest == 0) {
      memcpy(target + i, pixels + i, 4);
      continue;
    }
    for (size_t c = 0; c < 4; c++) {
      uint32_t sum = pixels[i + c] + multiply(target[i + c], rest);
      target[i + c] = (uint8_t)(sum > 255 ? 255 : sum);
    }
  }
}

void fic_rows_gray_to_bgrx(uint8_t *row, size_t count) {
  // From the end: a pixel is written where gray bytes before it are not read any more.
  for (size_t i = count; i-- > 0;) {
    uint8_t gray = row[i];
    uint8_t pixel[4] = {gray, gray, gray, 255};
    memcpy(row + 4 * i, pixel, 4);
  }
}

void fic_rows_cmyk_to_bgrx(uint8_t *pixels, size_t count) {
  for (size_t i = 0; i < 4 * count; i += 4) {
    uint32_t red = pixels[i], green = pixels[i + 1], blue = pixels[i + 2], black = pixels[i + 3];
    pixels[i] = (uint8_t)multiply(blue, black);
    pixels[i + 1] = (uint8_t)multiply(green, black);
    pixels[i + 2] = (uint8_t)multiply(red, black);
    pixels[i + 3] = 255;
  }
}

void fic_rows_add(
    uint32_t *sums, const uint8_t *row, size_t width, uint32_t factor, uint32_t bytes_per_pixel) {
  for (size_t x = 0; x < width;) {
    size_t end = width - x > factor ? x + factor : width;
    if (bytes_per_pixel == 1) {
      uint32_t sum = 0;
      for (; x < end; x++) sum += row[x];
      *sums++ += sum;
    } else {
      uint32_t b = 0, g = 0, r = 0, a = 0;
      for (; x < end; x++) {
        const uint8_t *pixel = row + 4 * x;
        b += pixel[0];
        g += pixel[1];
        r += pixel[2];
        a += pixel[3];
      }
      sums[0] += b;
      sums[1] += g;
      sums[2] += r;
      sums[3] += a;
      sums += 4;
    }
  }
}

void fic_rows_average(
    uint32_t *sums, uint8_t *result, size_t width, uint32_t factor, uint32_t rows,
    uint32_t bytes_per_pixel) {
  for (size_t x = 0; x < width; x += factor) {
    uint32_t columns = width - x > factor ? factor : (uint32_t)(width - x);
    uint32_t pixels = columns * rows;
    for (uint32_t c = 0; c < bytes_per_pixel; c++) {
      *result++ = (uint8_t)((*sums + pixels / 2) / pixels);
      *sums++ = 0;
    }
  }
}

// The offset of the stored image's first pixel, and the distances to its neighbours to the right
// and below, in bytes of the upright image.
typedef struct {
  ptrdiff_t origin, right, down;
} placement;

static placement placement_of(
    uint32_t orientation, ptrdiff_t width, ptrdiff_t height, ptrdiff_t row, ptrdiff_t pixel) {
  ptrdiff_t last_x = width - 1, last_y = height - 1;
  switch (orientation) {
    case 2:
      return (placement){last_x * pixel, -pixel, row};
    case 3:
      return (placement){last_y * row + last_x * pixel, -pixel, -row};
    case 4:
      return (placement){last_y * row, pixel, -row};
    case 5:
      return (placement){0, row, pixel};
    case 6:
      return (placement){last_y * pixel, row, -pixel};
    case 7:
      return (placement){last_x * row + last_y * pixel, -row, -pixel};
    case 8:
      return (placement){last_x * row, -row, pixel};
    default:
      return (placement){0, pixel, row};
  }
}

void fic_rows_place(
    const uint8_t *stored, size_t stored_row_bytes, uint32_t first, uint32_t rows, uint32_t width,
    uint32_t height, uint8_t *upright, size_t upright_row_bytes, uint32_t bytes_per_pixel,
    uint32_t orientation) {
  placement place = placement_of(
      orientation, width, height, (ptrdiff_t)upright_row_bytes, (ptrdiff_t)bytes_per_pixel);
  upright += place.origin + (ptrdiff_t)first * place.down;
  if (orientation < 5) {
    for (uint32_t y = 0; y < rows; y++, stored += stored_row_bytes, upright += place.down) {
      if (place.right == (ptrdiff_t)bytes_per_pixel) {
        memcpy(upright, stored, (size_t)width * bytes_per_pixel);
      } else if (bytes_per_pixel == 4) {
        for (ptrdiff_t x = 0; x < width; x++) memcpy(upright - 4 * x, stored + 4 * x, 4);
      } else {
        for (ptrdiff_t x = 0; x < width; x++) upright[-x] = stored[x];
      }
    }
    return;
  }
  // Stored columns become upright rows: walking down the column writes to neighbouring bytes, and
  // the strip being read is small enough to stay in the cache.
  for (uint32_t x = 0; x < width; x++, upright += place.right) {
    const uint8_t *source = stored + (size_t)x * bytes_per_pixel;
    uint8_t *target = upright;
    for (uint32_t y = 0; y < rows; y++, source += stored_row_bytes, target += place.down) {
      if (bytes_per_pixel == 4) {
        memcpy(target, source, 4);
      } else {
        *target = *source;
      }
    }
  }
}

#endif
