#if defined(__linux__)

#include "memory.h"

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

static cmsToneCurve *table_of(cmsContext context, double (*light)(double)) {
  cmsUInt16Number table[CURVE_COUNT];
  for (int i = 0; i < CURVE_COUNT; i++) {
    double value = light((double)i / (CURVE_COUNT - 1));
    table[i] = value > 0 ? value < 1 ? (cmsUInt16Number)(value * 65535 + 0.5) : 65535 : 0;
  }
  return cmsBuildTabulatedToneCurve16(context, CURVE_COUNT, table);
}

static cmsToneCurve *curve_of(
    cmsContext context, fic_color_curve curve, const double *parameters) {
  switch (curve) {
    case FIC_CURVE_PARAMETRIC:
      return cmsBuildParametricToneCurve(context, 4, parameters);
    case FIC_CURVE_PQ:
      return table_of(context, perceptual_quantizer);
    case FIC_CURVE_HLG:
      return table_of(context, hybrid_log_gamma);
  }
}

static cmsHPROFILE profile_of(cmsContext context, const double *xy, cmsToneCurve *curve) {
  if (!xy) return cmsCreateGrayProfileTHR(context, cmsD50_xyY(), curve);
  cmsCIExyYTRIPLE primaries = {{xy[0], xy[1], 1}, {xy[2], xy[3], 1}, {xy[4], xy[5], 1}};
  cmsCIExyY white = {xy[6], xy[7], 1};
  cmsToneCurve *curves[3] = {curve, curve, curve};
  return cmsCreateRGBProfileTHR(context, &white, &primaries, curves);
}

static bool add_name(cmsContext context, cmsHPROFILE profile, const char *name) {
  cmsMLU *text = cmsMLUalloc(context, 1);
  bool works = text && cmsMLUsetASCII(text, "en", "US", name) &&
               cmsWriteTag(profile, cmsSigProfileDescriptionTag, text);
  cmsMLUfree(text);
  return works;
}

static bool save(cmsHPROFILE profile, uint8_t **bytes, size_t *count) {
  cmsUInt32Number size = 0;
  if (!cmsSaveProfileToMem(profile, NULL, &size)) return false;
  uint8_t *memory = malloc(size);
  if (!memory || !cmsSaveProfileToMem(profile, memory, &size)) {
    free(memory);
    return false;
  }
  // Equal profiles share a transform, and are told by their bytes.
  if (size >= CREATION_DATE + CREATION_DATE_COUNT)
    memset(memory + CREATION_DATE, 0, CREATION_DATE_COUNT);
  *bytes = memory;
  *count = size;
  return true;
}

fic_status fic_color_make_profile(
    const double *chromaticities, fic_color_curve kind, const double *parameters,
    const char *name, uint8_t **bytes, size_t *count) {
  fic_color_memory memory = {.largest = 1 << 20};
  cmsContext context = fic_color_memory_open(&memory);
  if (!context) return FIC_OUT_OF_MEMORY;
  cmsToneCurve *curve = curve_of(context, kind, parameters);
  cmsHPROFILE profile = curve ? profile_of(context, chromaticities, curve) : NULL;
  bool works = profile && (!name || add_name(context, profile, name)) && save(profile, bytes, count);
  bool is_damaged = curve && !profile && !memory.was_refused;
  cmsFreeToneCurve(curve);
  if (profile) cmsCloseProfile(profile);
  cmsDeleteContext(context);
  return works ? FIC_OK : is_damaged ? FIC_DAMAGED : FIC_OUT_OF_MEMORY;
}

#endif
