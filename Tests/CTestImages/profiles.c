#if defined(__linux__)

#include "CTestImages.h"

#include <stdlib.h>

#include <lcms2.h>

static fic_test_bytes save(cmsHPROFILE profile) {
  cmsUInt32Number count = 0;
  if (!profile || !cmsSaveProfileToMem(profile, NULL, &count)) abort();
  uint8_t *bytes = malloc(count);
  if (!bytes || !cmsSaveProfileToMem(profile, bytes, &count)) abort();
  cmsCloseProfile(profile);
  return (fic_test_bytes){bytes, count};
}

static cmsToneCurve *curve_of(double gamma) {
  const cmsFloat64Number srgb[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  return gamma > 0 ? cmsBuildGamma(NULL, gamma) : cmsBuildParametricToneCurve(NULL, 4, srgb);
}

fic_test_bytes fic_test_rgb_profile(const double c[8], double gamma) {
  cmsCIExyY white = {c[6], c[7], 1};
  cmsCIExyYTRIPLE primaries = {{c[0], c[1], 1}, {c[2], c[3], 1}, {c[4], c[5], 1}};
  cmsToneCurve *curve = curve_of(gamma);
  cmsToneCurve *curves[3] = {curve, curve, curve};
  cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, curves);
  cmsFreeToneCurve(curve);
  return save(profile);
}

fic_test_bytes fic_test_gray_profile(double gamma) {
  cmsToneCurve *curve = curve_of(gamma);
  cmsHPROFILE profile = cmsCreateGrayProfile(cmsD50_xyY(), curve);
  cmsFreeToneCurve(curve);
  return save(profile);
}

fic_test_bytes fic_test_srgb_profile(void) { return save(cmsCreate_sRGBProfile()); }

typedef struct {
  cmsHTRANSFORM to_lab;
} ink_context;

// Inks to Lab by way of sRGB, so that what the profile means can be said in red, green and blue.
static cmsInt32Number sample_ink(
    const cmsUInt16Number inks[], cmsUInt16Number result[], void *context) {
  double light = 1 - inks[3] / 65535.0;
  double rgb[3] = {(1 - inks[0] / 65535.0) * light, (1 - inks[1] / 65535.0) * light, light};
  cmsCIELab lab;
  cmsDoTransform(((ink_context *)context)->to_lab, rgb, &lab, 1);
  cmsFloat2LabEncoded(result, &lab);
  return 1;
}

fic_test_bytes fic_test_cmyk_profile(void) {
  cmsHPROFILE srgb = cmsCreate_sRGBProfile();
  cmsHPROFILE lab = cmsCreateLab4Profile(NULL);
  ink_context context = {cmsCreateTransform(
      srgb, TYPE_RGB_DBL, lab, TYPE_Lab_DBL, INTENT_RELATIVE_COLORIMETRIC, 0)};
  cmsHPROFILE profile = cmsCreateProfilePlaceholder(NULL);
  cmsSetProfileVersion(profile, 4.3);
  cmsSetDeviceClass(profile, cmsSigOutputClass);
  cmsSetColorSpace(profile, cmsSigCmykData);
  cmsSetPCS(profile, cmsSigLabData);
  cmsWriteTag(profile, cmsSigMediaWhitePointTag, cmsD50_XYZ());
  cmsPipeline *pipeline = cmsPipelineAlloc(NULL, 4, 3);
  cmsStage *table = cmsStageAllocCLut16bit(NULL, 9, 4, 3, NULL);
  if (!context.to_lab || !pipeline || !table) abort();
  if (!cmsStageSampleCLut16bit(table, sample_ink, &context, 0)) abort();
  // A lutAToBType may hold a table only between curves (ICC.1:2022, 10.12).
  cmsPipelineInsertStage(pipeline, cmsAT_END, cmsStageAllocToneCurves(NULL, 4, NULL));
  cmsPipelineInsertStage(pipeline, cmsAT_END, table);
  cmsPipelineInsertStage(pipeline, cmsAT_END, cmsStageAllocToneCurves(NULL, 3, NULL));
  if (!cmsWriteTag(profile, cmsSigAToB0Tag, pipeline)) abort();
  cmsPipelineFree(pipeline);
  cmsDeleteTransform(context.to_lab);
  cmsCloseProfile(lab);
  cmsCloseProfile(srgb);
  return save(profile);
}

void fic_test_to_srgb(
    const uint8_t *profile, size_t count, const uint8_t *source, uint8_t result[3]) {
  cmsHPROFILE from = cmsOpenProfileFromMem(profile, (cmsUInt32Number)count);
  if (!from) abort();
  cmsColorSpaceSignature space = cmsGetColorSpace(from);
  cmsUInt32Number format = space == cmsSigGrayData   ? TYPE_GRAY_8
                           : space == cmsSigCmykData ? TYPE_CMYK_8
                                                     : TYPE_RGB_8;
  cmsHPROFILE to = cmsCreate_sRGBProfile();
  cmsHTRANSFORM transform = cmsCreateTransform(
      from, format, to, TYPE_RGB_8, INTENT_RELATIVE_COLORIMETRIC,
      cmsFLAGS_NOOPTIMIZE | cmsFLAGS_BLACKPOINTCOMPENSATION);
  if (!transform) abort();
  cmsDoTransform(transform, source, result, 1);
  cmsDeleteTransform(transform);
  cmsCloseProfile(to);
  cmsCloseProfile(from);
}

#endif
