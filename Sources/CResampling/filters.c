#include "CResampling.h"

#include <string.h>

// A processor that multiplies and adds in one step would round otherwise than others do.
#pragma STDC FP_CONTRACT OFF

static uint8_t *row_of(fic_pixels pixels, size_t y) { return pixels.bytes + y * pixels.row_bytes; }

// a * b / 255, rounded to the nearest.
static uint8_t product(uint32_t a, uint32_t b) {
  uint32_t sum = a * b + 128;
  return (uint8_t)((sum + (sum >> 8)) >> 8);
}

void fic_mix_colors(fic_pixels pixels, const float *matrix) {
  for (size_t y = 0; y < pixels.height; y++) {
    uint8_t *end = row_of(pixels, y) + pixels.width * 4;
    for (uint8_t *pixel = row_of(pixels, y); pixel < end; pixel += 4) {
      float blue = pixel[0], green = pixel[1], red = pixel[2], alpha = pixel[3];
      for (int channel = 0; channel < 3; channel++) {
        const float *factors = matrix + channel * 4;
        float sum = factors[0] * blue + factors[1] * green + factors[2] * red + factors[3] * alpha;
        float bounded = sum > 0 ? sum < alpha ? sum : alpha : 0;
        pixel[channel] = (uint8_t)(bounded + 0.5f);
      }
    }
  }
}

void fic_replace_colors(fic_pixels pixels, const uint8_t *tables) {
  for (size_t y = 0; y < pixels.height; y++) {
    uint8_t *end = row_of(pixels, y) + pixels.width * 4;
    for (uint8_t *pixel = row_of(pixels, y); pixel < end; pixel += 4) {
      uint32_t alpha = pixel[3];
      if (alpha == 0) continue;
      for (uint32_t channel = 0; channel < 3; channel++) {
        uint32_t color = pixel[channel];
        if (alpha < 255) color = (color * 255 + alpha / 2) / alpha;
        uint8_t found = tables[channel * 256 + (color < 255 ? color : 255)];
        pixel[channel] = alpha < 255 ? product(found, alpha) : found;
      }
    }
  }
}

// Blue, green and red.
typedef struct {
  float of[3];
} color;

static float least(color c) {
  float least = c.of[0] < c.of[1] ? c.of[0] : c.of[1];
  return least < c.of[2] ? least : c.of[2];
}

static float largest(color c) {
  float largest = c.of[0] > c.of[1] ? c.of[0] : c.of[1];
  return largest > c.of[2] ? largest : c.of[2];
}

static float luminosity(color c) {
  return 0.11f * c.of[0] + 0.59f * c.of[1] + 0.3f * c.of[2];
}

static color with_saturation(color c, float saturation) {
  float start = least(c), range = largest(c) - start;
  for (int i = 0; i < 3; i++)
    c.of[i] = range > 0 ? (c.of[i] - start) * saturation / range : 0;
  return c;
}

// Colours beyond black or white come nearer to the gray of that luminosity.
static color with_luminosity(color c, float wanted) {
  float change = wanted - luminosity(c);
  float low = least(c) + change, high = largest(c) + change, share = 1;
  if (low < 0) share = wanted / (wanted - low);
  if (high > 1) share = (1 - wanted) / (high - wanted);
  for (int i = 0; i < 3; i++) c.of[i] = wanted + (c.of[i] + change - wanted) * share;
  return c;
}

static color blend(color backdrop, color source, fic_part part) {
  float light = luminosity(backdrop);
  switch (part) {
  case fic_hue:
    source = with_saturation(source, largest(backdrop) - least(backdrop));
    return with_luminosity(source, light);
  case fic_saturation:
    return with_luminosity(with_saturation(backdrop, largest(source) - least(source)), light);
  case fic_color: return with_luminosity(source, light);
  case fic_luminosity: return with_luminosity(backdrop, luminosity(source));
  }
}

void fic_blend_part(fic_pixels pixels, const float *source, fic_part part) {
  color tint = {{source[0], source[1], source[2]}};
  for (size_t y = 0; y < pixels.height; y++) {
    uint8_t *end = row_of(pixels, y) + pixels.width * 4;
    for (uint8_t *pixel = row_of(pixels, y); pixel < end; pixel += 4) {
      float alpha = pixel[3];
      if (alpha == 0) continue;
      color backdrop;
      for (int i = 0; i < 3; i++)
        backdrop.of[i] = pixel[i] < pixel[3] ? pixel[i] / alpha : 1;
      color result = blend(backdrop, tint, part);
      for (int i = 0; i < 3; i++) {
        float mixed = backdrop.of[i] + (result.of[i] - backdrop.of[i]) * source[3];
        float bounded = mixed > 0 ? mixed < 1 ? mixed : 1 : 0;
        pixel[i] = (uint8_t)(bounded * alpha + 0.5f);
      }
    }
  }
}

void fic_cover(uint8_t *row, size_t count, const uint8_t *color) {
  for (size_t i = 0; i < count * 4; i++)
    row[i] = (uint8_t)(color[i % 4] + product(row[i], 255u - color[3]));
}

void fic_flip_rows(fic_pixels pixels) {
  for (size_t y = 0; y < pixels.height; y++) {
    uint8_t *row = row_of(pixels, y);
    for (size_t left = 0, right = pixels.width - 1; left < right; left++, right--) {
      uint32_t pixel, other;
      memcpy(&pixel, row + left * 4, 4);
      memcpy(&other, row + right * 4, 4);
      memcpy(row + left * 4, &other, 4);
      memcpy(row + right * 4, &pixel, 4);
    }
  }
}

void fic_flip_columns(fic_pixels pixels) {
  for (size_t top = 0, bottom = pixels.height - 1; top < bottom; top++, bottom--) {
    uint8_t *first = row_of(pixels, top), *second = row_of(pixels, bottom);
    for (size_t i = 0; i < pixels.width * 4; i++) {
      uint8_t byte = first[i];
      first[i] = second[i];
      second[i] = byte;
    }
  }
}
