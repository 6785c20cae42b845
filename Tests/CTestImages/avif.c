#if defined(__linux__) && defined(FIC_AVIF)

#include "CTestImages.h"

#include <stdlib.h>
#include <string.h>

#include <avif/avif.h>

static void check(avifResult result) {
  if (result != AVIF_RESULT_OK) abort();
}

static avifImage *make_image(
    const fic_test_avif *options, uint32_t width, uint32_t height, const uint8_t *pixels,
    uint32_t row_bytes) {
  avifPixelFormat format = options->sampling == 444   ? AVIF_PIXEL_FORMAT_YUV444
                           : options->sampling == 422 ? AVIF_PIXEL_FORMAT_YUV422
                           : options->sampling == 420 ? AVIF_PIXEL_FORMAT_YUV420
                                                      : AVIF_PIXEL_FORMAT_YUV400;
  avifImage *image = avifImageCreate(width, height, options->depth, format);
  image->colorPrimaries = (avifColorPrimaries)options->primaries;
  image->transferCharacteristics = (avifTransferCharacteristics)options->transfer;
  image->matrixCoefficients =
      options->exact ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
  image->yuvRange = AVIF_RANGE_FULL;
  image->alphaPremultiplied = options->premultiplied;
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, image);
  rgb.depth = 8;
  rgb.format = AVIF_RGB_FORMAT_RGBA;
  rgb.ignoreAlpha = !options->alpha;
  rgb.pixels = (uint8_t *)pixels;
  rgb.rowBytes = row_bytes;
  check(avifImageRGBToYUV(image, &rgb));
  return image;
}

static void add_properties(const fic_test_avif *options, avifImage *image) {
  if (options->profile) avifImageSetProfileICC(image, options->profile, options->profile_count);
  if (options->rotation >= 0) {
    image->transformFlags |= AVIF_TRANSFORM_IROT;
    image->irot.angle = (uint8_t)options->rotation;
  }
  if (options->mirroring >= 0) {
    image->transformFlags |= AVIF_TRANSFORM_IMIR;
    image->imir.mode = (uint8_t)options->mirroring;
  }
  if (options->crop[2] > 0) {
    avifCropRect crop = {options->crop[0], options->crop[1], options->crop[2], options->crop[3]};
    avifDiagnostics diagnostics;
    image->transformFlags |= AVIF_TRANSFORM_CLAP;
    if (!avifCleanApertureBoxConvertCropRect(
            &image->clap, &crop, image->width, image->height, image->yuvFormat, &diagnostics))
      abort();
  }
}

static void encode_grid(
    const fic_test_avif *options, const uint8_t *pixels, avifEncoder *encoder) {
  uint32_t count = options->columns * options->rows;
  uint32_t width = options->width / options->columns, height = options->height / options->rows;
  avifImage **cells = calloc(count, sizeof *cells);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t x = i % options->columns * width, y = i / options->columns * height;
    cells[i] = make_image(
        options, width, height, pixels + ((size_t)y * options->width + x) * 4, options->width * 4);
    add_properties(options, cells[i]);
  }
  check(avifEncoderAddImageGrid(
      encoder, options->columns, options->rows, (const avifImage *const *)cells,
      AVIF_ADD_IMAGE_FLAG_SINGLE));
  for (uint32_t i = 0; i < count; i++) avifImageDestroy(cells[i]);
  free(cells);
}

static void encode_frames(
    const fic_test_avif *options, const uint8_t *pixels, avifEncoder *encoder) {
  size_t row_bytes = (size_t)options->width * 4;
  uint8_t *black = calloc(options->height, row_bytes);
  for (uint32_t i = 0; i < (options->frames ? options->frames : 1); i++) {
    avifImage *image = make_image(
        options, options->width, options->height, i == 0 ? pixels : black, (uint32_t)row_bytes);
    add_properties(options, image);
    check(avifEncoderAddImage(
        encoder, image, 1, options->frames ? AVIF_ADD_IMAGE_FLAG_NONE : AVIF_ADD_IMAGE_FLAG_SINGLE));
    avifImageDestroy(image);
  }
  free(black);
}

fic_test_bytes fic_test_encode_avif(fic_test_avif options, const uint8_t *pixels) {
  avifEncoder *encoder = avifEncoderCreate();
  encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
  encoder->speed = 8;
  encoder->minQuantizer = encoder->maxQuantizer = 0;
  encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = 0;
  if (options.columns > 0) {
    encode_grid(&options, pixels, encoder);
  } else {
    encode_frames(&options, pixels, encoder);
  }
  avifRWData output = AVIF_DATA_EMPTY;
  check(avifEncoderFinish(encoder, &output));
  avifEncoderDestroy(encoder);
  uint8_t *bytes = malloc(output.size);
  if (!bytes) abort();
  memcpy(bytes, output.data, output.size);
  fic_test_bytes result = {bytes, output.size};
  avifRWDataFree(&output);
  return result;
}

#endif
