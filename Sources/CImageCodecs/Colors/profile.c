#if defined(__linux__)

#include "CImageCodecs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lcms2.h>

enum { CURVE_COUNT = 4096, CREATION_DATE = 24, CREATION_DATE_COUNT = 12 };

// SMPTE ST 2084, in units of the reference white, 203 cd/m2 (ITU-R BT.2408): what is brighter is cut.
static double perceptual_quantizer(double value) {
  double m1 = 2610.0 / 16384, m2 = 2523.0 / 32, c1 = 3424.0 / 4096, c2 = 2413.0 / 128,
         c3 = 2392.0 / 128;
  double power = pow(value, 1 / m2);
  return pow(fmax(power - c1, 0) / (c2 - c3 * power), 1 / m1) * 10000 / 203;
}

// ITU-R BT.2100, hybrid log-gamma on a screen of 1000 cd/m2, in the same units.
static double hybrid_log_gamma(double value) {
  double a = 0.17883277, b = 0.28466892, c = 0.55991073;
  double scene = value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12;
  return pow(scene, 1.2) * 1000 / 203;
}

static cmsToneCurve *table_of(double (*light)(double)) {
  cmsUInt16Number *table = malloc(CURVE_COUNT * sizeof *table);
  if (!table) return NULL;
  for (int i = 0; i < CURVE_COUNT; i++) {
    double value = light((double)i / (CURVE_COUNT - 1));
    table[i] = value > 0 ? value < 1 ? (cmsUInt16Number)(value * 65535 + 0.5) : 65535 : 0;
  }
  cmsToneCurve *curve = cmsBuildTabulatedToneCurve16(NULL, CURVE_COUNT, table);
  free(table);
  return curve;
}

static cmsToneCurve *curve_of(fic_color_curve curve) {
  // IEC 61966-2-1.
  const cmsFloat64Number srgb[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  switch (curve) {
    case FIC_CURVE_SRGB:
      return cmsBuildParametricToneCurve(NULL, 4, srgb);
    case FIC_CURVE_LINEAR:
      return cmsBuildGamma(NULL, 1);
    case FIC_CURVE_GAMMA_22:
      return cmsBuildGamma(NULL, 2.2);
    case FIC_CURVE_GAMMA_28:
      return cmsBuildGamma(NULL, 2.8);
    case FIC_CURVE_PQ:
      return table_of(perceptual_quantizer);
    case FIC_CURVE_HLG:
      return table_of(hybrid_log_gamma);
  }
}

static bool has_name(cmsHPROFILE profile, const char *name) {
  cmsMLU *text = cmsMLUalloc(NULL, 1);
  bool works = text && cmsMLUsetASCII(text, "en", "US", name) &&
               cmsWriteTag(profile, cmsSigProfileDescriptionTag, text);
  cmsMLUfree(text);
  return works;
}

fic_status fic_color_make_profile(
    const double chromaticities[8], fic_color_curve kind, const char *name, uint8_t **bytes,
    size_t *count) {
  const double *xy = chromaticities;
  cmsCIExyYTRIPLE primaries = {{xy[0], xy[1], 1}, {xy[2], xy[3], 1}, {xy[4], xy[5], 1}};
  cmsCIExyY white = {xy[6], xy[7], 1};
  cmsToneCurve *curve = curve_of(kind);
  if (!curve) return FIC_OUT_OF_MEMORY;
  cmsToneCurve *curves[3] = {curve, curve, curve};
  cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, curves);
  cmsFreeToneCurve(curve);
  if (!profile) return FIC_DAMAGED;
  cmsUInt32Number size = 0;
  uint8_t *memory = NULL;
  bool works = (!name || has_name(profile, name)) && cmsSaveProfileToMem(profile, NULL, &size) && (memory = malloc(size)) != NULL &&
               cmsSaveProfileToMem(profile, memory, &size);
  cmsCloseProfile(profile);
  if (!works) {
    free(memory);
    return FIC_OUT_OF_MEMORY;
  }
  // Equal profiles share a transform, and are told by their bytes.
  if (size >= CREATION_DATE + CREATION_DATE_COUNT)
    memset(memory + CREATION_DATE, 0, CREATION_DATE_COUNT);
  *bytes = memory;
  *count = size;
  return FIC_OK;
}

#endif
