#include "CResampling.h"

// A processor that multiplies and adds in one step would round otherwise than others do.
#pragma STDC FP_CONTRACT OFF

static uint8_t number_of(float light, const uint8_t *numbers, float steps) {
  float bounded = light > 0 ? light < 1 ? light : 1 : 0;
  return numbers[(size_t)(bounded * steps + 0.5f)];
}

void fic_convert_colors(
    uint8_t *pixels, size_t count, const float *matrix, const float *light,
    const uint8_t *numbers, float steps) {
  for (uint8_t *pixel = pixels; pixel < pixels + 4 * count; pixel += 4) {
    float red = light[pixel[2]], green = light[pixel[1]], blue = light[pixel[0]];
    for (int row = 0; row < 3; row++) {
      const float *factors = matrix + 3 * row;
      pixel[2 - row] = number_of(
          factors[0] * red + factors[1] * green + factors[2] * blue, numbers, steps);
    }
  }
}
