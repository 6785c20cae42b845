#if defined(__linux__)

#include "inks.h"

#include <math.h>

#include <lcms2_plugin.h>

// Steps of light: the steepest step of eight bits, at black, still has five of them.
#define STEPS 16383

// Little CMS's table of 17 steps for each ink cannot follow colours that a space cuts off: a table that ended in
// sRGB was up to five units of CIEDE2000 off. L*a*b* has every colour, and profiles are smooth in it. Black point
// compensation has no place in the table: what is darker than black ink would be cut off.
struct fic_inks {
  cmsHTRANSFORM to_lab;
  float black;   // the light of the black point, as a part of white's
  uint8_t numbers[STEPS + 1];
};

// From light relative to the white of D50 to that of each space, by the Bradford transform (ICC.1:2022, annex E).
static const float rows[2][9] = {
    [FIC_SPACE_SRGB] = {3.021982492f, -1.617208959f, -0.404773533f, -0.943709308f, 1.916130097f,
                        0.027579211f, 0.069387619f, -0.228993873f, 1.159606254f},
    [FIC_SPACE_DISPLAY_P3] = {2.317921378f, -0.989906899f, -0.328014478f, -0.812071346f,
                              1.798843738f, 0.013227608f, 0.046480082f, -0.097406754f,
                              1.050926671f},
};

// Whether a table follows its profile: 2048 inks within one unit of CIE 1976, as those of printing presses are. The
// worst colours are about half as far off by CIEDE2000, which leaves room for rounding to eight bits.
static bool follows(cmsHTRANSFORM table, cmsHTRANSFORM exact) {
  enum { count = 2048 };
  uint8_t inks[4 * count];
  uint16_t found[3 * count], wanted[3 * count];
  uint32_t random = 1;
  for (size_t i = 0; i < sizeof inks; i++) {
    random = random * 1664525 + 1013904223;
    inks[i] = (uint8_t)(random >> 24);
  }
  cmsDoTransform(table, inks, found, count);
  cmsDoTransform(exact, inks, wanted, count);
  for (size_t i = 0; i < 3 * count; i += 3) {
    float l = (found[i] - wanted[i]) / 655.35f;
    float a = (found[i + 1] - wanted[i + 1]) / 257.0f, b = (found[i + 2] - wanted[i + 2]) / 257.0f;
    if (l * l + a * a + b * b > 1) return false;
  }
  return true;
}

static cmsHTRANSFORM to_lab(cmsHPROFILE profile) {
  cmsHPROFILE lab = cmsCreateLab4ProfileTHR(cmsGetProfileContextID(profile), NULL);
  if (!lab) return NULL;
  cmsHTRANSFORM table = cmsCreateTransform(
      profile, TYPE_CMYK_8_REV, lab, TYPE_Lab_16, INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_NOCACHE);
  cmsHTRANSFORM exact = cmsCreateTransform(
      profile, TYPE_CMYK_8_REV, lab, TYPE_Lab_16, INTENT_RELATIVE_COLORIMETRIC,
      cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE);
  cmsCloseProfile(lab);
  bool keeps_table = table && (!exact || follows(table, exact));
  cmsHTRANSFORM other = keeps_table ? exact : table;
  if (other) cmsDeleteTransform(other);
  return keeps_table ? table : exact;
}

fic_inks *fic_inks_create(cmsHPROFILE profile) {
  cmsContext context = cmsGetProfileContextID(profile);
  fic_inks *inks = _cmsMalloc(context, sizeof *inks);
  if (!inks) return NULL;
  inks->to_lab = to_lab(profile);
  if (!inks->to_lab) {
    _cmsFree(context, inks);
    return NULL;
  }
  cmsCIEXYZ black = {0, 0, 0};
  bool has_black = cmsDetectBlackPoint(&black, profile, INTENT_RELATIVE_COLORIMETRIC, 0);
  inks->black = has_black && black.Y > 0 && black.Y < 1 ? (float)black.Y : 0;
  for (int i = 0; i <= STEPS; i++) {
    double light = (double)i / STEPS;
    double number = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
    inks->numbers[i] = (uint8_t)(number * 255 + 0.5);
  }
  return inks;
}

void fic_inks_close(fic_inks *inks) {
  if (!inks) return;
  cmsContext context = cmsGetTransformContextID(inks->to_lab);
  cmsDeleteTransform(inks->to_lab);
  _cmsFree(context, inks);
}

// CIE 15:2004, section 8.2.1, backwards; then the black point becomes zero, and what is darker is below.
static float light_of(const fic_inks *inks, float f) {
  float light = f > 6.0f / 29 ? f * f * f : (f - 4.0f / 29) * (108.0f / 841);
  return (light - inks->black) / (1 - inks->black);
}

static uint8_t number_of(const fic_inks *inks, float light) {
  float bounded = light > 0 ? light < 1 ? light : 1 : 0;
  return inks->numbers[(size_t)(bounded * STEPS + 0.5f)];
}

void fic_inks_apply(
    const fic_inks *inks, uint8_t *pixels, size_t count, fic_color_space space) {
  enum { part = 256 };
  uint16_t lab[3 * part];
  for (size_t begin = 0; begin < count; begin += part) {
    size_t end = count - begin < part ? count : begin + part;
    cmsDoTransform(inks->to_lab, pixels + 4 * begin, lab, (cmsUInt32Number)(end - begin));
    for (size_t i = begin; i < end; i++) {
      // ICC.1:2022, section 6.3.4.2: 0 to 100, and -128 to 127.
      const uint16_t *numbers = lab + 3 * (i - begin);
      float y = (numbers[0] / 655.35f + 16) / 116;
      float x = y + (numbers[1] / 257.0f - 128) / 500;
      float z = y - (numbers[2] / 257.0f - 128) / 200;
      float light[3] = {light_of(inks, x), light_of(inks, y), light_of(inks, z)};
      uint8_t *pixel = pixels + 4 * i;
      for (int channel = 0; channel < 3; channel++) {
        const float *row = rows[space] + 3 * channel;
        pixel[2 - channel] =
            number_of(inks, row[0] * light[0] + row[1] * light[1] + row[2] * light[2]);
      }
      pixel[3] = 255;
    }
  }
}

#endif
