#if defined(__linux__)

#include "inks.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct fic_color_transform {
  fic_color_kind kind;
  fic_color_memory memory;
  cmsContext context;     // of all that Little CMS makes here
  cmsHTRANSFORM handle;   // for red, green and blue
  fic_inks *inks;         // for inks
  uint8_t grays[256];     // for gray, which has too few values to compute any twice
};

static bool is_gray(fic_color_kind kind) {
  return kind == FIC_COLOR_GRAY || kind == FIC_COLOR_GRAY_AS_COLOR;
}

static cmsHPROFILE srgb_gray_profile(cmsContext context) {
  // IEC 61966-2-1, as Little CMS's own sRGB profile has it.
  const cmsFloat64Number curve[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  cmsToneCurve *tone = cmsBuildParametricToneCurve(context, 4, curve);
  if (!tone) return NULL;
  cmsHPROFILE profile = cmsCreateGrayProfileTHR(context, cmsD50_xyY(), tone);
  cmsFreeToneCurve(tone);
  return profile;
}

static bool fits(cmsHPROFILE profile, fic_color_kind kind) {
  cmsProfileClassSignature class = cmsGetDeviceClass(profile);
  if (class != cmsSigDisplayClass && class != cmsSigInputClass && class != cmsSigOutputClass &&
      class != cmsSigColorSpaceClass)
    return false;
  cmsColorSpaceSignature space = cmsGetColorSpace(profile);
  switch (kind) {
    case FIC_COLOR_GRAY:
    case FIC_COLOR_GRAY_AS_COLOR:
      return space == cmsSigGrayData;
    case FIC_COLOR_RGB:
      return space == cmsSigRgbData;
    default:
      return space == cmsSigCmykData;
  }
}

// Threads share a transform, which is constant only without its one-pixel cache. Black maps to
// black: otherwise the deepest black of an ink would become a dark gray.
static cmsHTRANSFORM transform_of(
    cmsHPROFILE source, cmsUInt32Number from, cmsHPROFILE target, cmsUInt32Number to) {
  return cmsCreateTransform(
      source, from, target, to, INTENT_RELATIVE_COLORIMETRIC,
      cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION);
}

static bool fill_grays(fic_color_transform *transform, cmsHPROFILE source) {
  cmsHPROFILE target = srgb_gray_profile(transform->context);
  if (!target) return false;
  cmsHTRANSFORM handle = transform_of(source, TYPE_GRAY_DBL, target, TYPE_GRAY_DBL);
  cmsCloseProfile(target);
  if (!handle) return false;
  for (int i = 0; i < 256; i++) {
    double before = i / 255.0, after = 0;
    cmsDoTransform(handle, &before, &after, 1);
    // Written so that NaN becomes zero.
    transform->grays[i] = after > 0 ? after < 1 ? (uint8_t)(after * 255 + 0.5) : 255 : 0;
  }
  cmsDeleteTransform(handle);
  return true;
}

static cmsHPROFILE display_p3_profile(cmsContext context) {
  // SMPTE RP 431-2's primaries; white and curve as Little CMS's own sRGB profile has them.
  const cmsFloat64Number numbers[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  const cmsCIExyY white = {0.3127, 0.329, 1};
  const cmsCIExyYTRIPLE primaries = {{0.68, 0.32, 1}, {0.265, 0.69, 1}, {0.15, 0.06, 1}};
  cmsToneCurve *tone = cmsBuildParametricToneCurve(context, 4, numbers);
  if (!tone) return NULL;
  cmsToneCurve *tones[3] = {tone, tone, tone};
  cmsHPROFILE profile = cmsCreateRGBProfileTHR(context, &white, &primaries, tones);
  cmsFreeToneCurve(tone);
  return profile;
}

static bool open_colors(
    fic_color_transform *transform, cmsHPROFILE source, fic_color_space space) {
  cmsHPROFILE target = space == FIC_SPACE_SRGB ? cmsCreate_sRGBProfileTHR(transform->context)
                                               : display_p3_profile(transform->context);
  if (!target) return false;
  transform->handle = transform_of(source, TYPE_BGRA_8, target, TYPE_BGRA_8);
  cmsCloseProfile(target);
  return transform->handle != NULL;
}

static bool open_transform(
    fic_color_transform *transform, cmsHPROFILE source, fic_color_space space) {
  switch (transform->kind) {
    case FIC_COLOR_GRAY:
    case FIC_COLOR_GRAY_AS_COLOR:
      return fill_grays(transform, source);
    case FIC_COLOR_RGB:
      return open_colors(transform, source, space);
    default:
      transform->inks = fic_inks_create(source);
      return transform->inks != NULL;
  }
}

// Rounding moves a value by one; profiles that call themselves sRGB, or Display P3, differ by one more in the
// shadows. Both are invisible, and leaving such images alone costs nothing.
static bool changes_nothing(const fic_color_transform *transform) {
  if (is_gray(transform->kind)) {
    for (int i = 0; i < 256; i++) {
      if (abs(transform->grays[i] - i) > 2) return false;
    }
    return true;
  }
  uint8_t before[4 * 9 * 9 * 9], after[sizeof before];
  for (size_t i = 0; i < 9 * 9 * 9; i++) {
    before[4 * i] = (uint8_t)(i % 9 * 255 / 8);
    before[4 * i + 1] = (uint8_t)(i / 9 % 9 * 255 / 8);
    before[4 * i + 2] = (uint8_t)(i / 81 * 255 / 8);
    before[4 * i + 3] = 255;
  }
  memcpy(after, before, sizeof before);
  cmsDoTransform(transform->handle, after, after, 9 * 9 * 9);
  for (size_t i = 0; i < sizeof before; i++) {
    if (abs(after[i] - before[i]) > 2) return false;
  }
  return true;
}

// A pipeline of multi-process elements (ICC.1:2022, section 10.16) may name one stage any number of times, so that a
// small file would choose the time of each pixel; or of the black point, which is found on the way from colours to a
// printer's inks and back. Little CMS takes pipelines from these tags alone. The others that it reads for a
// transform name each stage once: a table between curves and a matrix, curves of 32767 numbers, 16 names of inks.
// Profiles that have a pipeline have an older tag or a matrix as well (sections 8.3 to 8.5).
static void remove_pipelines(cmsHPROFILE profile) {
  static const cmsTagSignature tags[] = {
      cmsSigDToB0Tag, cmsSigDToB1Tag, cmsSigDToB2Tag, cmsSigDToB3Tag,
      cmsSigBToD0Tag, cmsSigBToD1Tag, cmsSigBToD2Tag, cmsSigBToD3Tag};
  for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
    // Not every version of Little CMS refuses a profile that has a tag twice.
    while (cmsIsTag(profile, tags[i]) && cmsWriteTag(profile, tags[i], NULL)) continue;
  }
}

static bool open_profile(
    fic_color_transform *transform, const uint8_t *profile, size_t count, fic_color_space space) {
  cmsHPROFILE source =
      cmsOpenProfileFromMemTHR(transform->context, profile, (cmsUInt32Number)count);
  if (!source) return false;
  remove_pipelines(source);
  bool works = fits(source, transform->kind) && open_transform(transform, source, space);
  cmsCloseProfile(source);
  return works;
}

fic_status fic_color_create(
    const uint8_t *profile, size_t count, fic_color_kind kind, fic_color_space space,
    fic_color_transform **result) {
  *result = NULL;
  if (count > UINT32_MAX) return FIC_DAMAGED;
  fic_color_transform *transform = calloc(1, sizeof *transform);
  if (!transform) return FIC_OUT_OF_MEMORY;
  transform->kind = kind;
  // A profile's eight bits become sixteen, and Little CMS's own tables take half a megabyte. It fills what a
  // profile claims with zeros before it looks for that in the file: 300 bytes would take 500 MB.
  transform->memory.largest = 4 * count + (4 << 20);
  transform->context = fic_color_memory_open(&transform->memory);
  bool works = transform->context && open_profile(transform, profile, count, space);
  fic_status status = works ? FIC_OK : FIC_DAMAGED;
  // Little CMS may find a worse way without memory, which would stay.
  if (!transform->context || transform->memory.was_refused) status = FIC_OUT_OF_MEMORY;
  bool is_light = is_gray(kind) || kind == FIC_COLOR_RGB;
  if (status == FIC_OK && !(is_light && changes_nothing(transform))) {
    *result = transform;
    return FIC_OK;
  }
  fic_color_close(transform);
  return status;
}

void fic_color_close(fic_color_transform *transform) {
  if (!transform) return;
  if (transform->handle) cmsDeleteTransform(transform->handle);
  fic_inks_close(transform->inks);
  if (transform->context) cmsDeleteContext(transform->context);
  free(transform);
}

void fic_color_apply(
    const fic_color_transform *transform, uint8_t *pixels, size_t count, fic_color_space space) {
  if (transform->inks) {
    fic_inks_apply(transform->inks, pixels, count, space);
    return;
  }
  if (transform->kind == FIC_COLOR_GRAY) {
    for (size_t i = 0; i < count; i++) pixels[i] = transform->grays[pixels[i]];
    return;
  }
  if (transform->kind == FIC_COLOR_GRAY_AS_COLOR) {
    for (size_t i = 0; i < 4 * count; i += 4)
      for (size_t c = 0; c < 3; c++) pixels[i + c] = transform->grays[pixels[i + c]];
    return;
  }
  while (count > 0) {
    cmsUInt32Number part = count > 1 << 20 ? 1 << 20 : (cmsUInt32Number)count;
    cmsDoTransform(transform->handle, pixels, pixels, part);
    pixels += 4 * (size_t)part;
    count -= part;
  }
}

#endif
