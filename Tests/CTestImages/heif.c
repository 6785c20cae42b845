#if defined(__linux__) && defined(FIC_HEIF)

#include "CTestImages.h"

#include <stdlib.h>
#include <string.h>

#include <libheif/heif.h>

static void check(struct heif_error error) {
  if (error.code != heif_error_Ok) abort();
}

static struct heif_image *make_image(const fic_test_heif *options, const uint8_t *pixels) {
  struct heif_image *image;
  int width = (int)options->width, height = (int)options->height;
  bool deep = options->depth > 8;
  enum heif_chroma color = deep ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RGB;
  enum heif_chroma alpha =
      deep ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA;
  check(heif_image_create(
      width, height, heif_colorspace_RGB, options->alpha ? alpha : color, &image));
  check(heif_image_add_plane(
      image, heif_channel_interleaved, width, height, (int)options->depth));
  int stride;
  uint8_t *plane = heif_image_get_plane(image, heif_channel_interleaved, &stride);
  int channels = options->alpha ? 4 : 3;
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      const uint8_t *pixel = pixels + ((ptrdiff_t)y * width + x) * 4;
      uint8_t *target = plane + (ptrdiff_t)y * stride + x * channels * (deep ? 2 : 1);
      if (!deep) memcpy(target, pixel, (size_t)channels);
      for (int i = 0; deep && i < channels; i++) {
        // In two bytes, the upper bits again as the lower ones.
        uint32_t value = (uint32_t)pixel[i] << (options->depth - 8) |
                         (uint32_t)pixel[i] >> (16 - options->depth);
        target[2 * i] = (uint8_t)value;
        target[2 * i + 1] = (uint8_t)(value >> 8);
      }
    }
  }
  if (options->profile)
    check(heif_image_set_raw_color_profile(
        image, "prof", options->profile, options->profile_count));
  return image;
}

static struct heif_error append(
    struct heif_context *context, const void *data, size_t size, void *target) {
  (void)context;
  fic_test_bytes *bytes = target;
  bytes->bytes = realloc(bytes->bytes, bytes->count + size);
  if (!bytes->bytes) abort();
  memcpy(bytes->bytes + bytes->count, data, size);
  bytes->count += size;
  return (struct heif_error){heif_error_Ok, heif_suberror_Unspecified, "ok"};
}

fic_test_bytes fic_test_encode_heif(fic_test_heif options, const uint8_t *pixels) {
  struct heif_context *context = heif_context_alloc();
  struct heif_encoder *encoder;
  check(heif_context_get_encoder_for_format(
      context, options.av1 ? heif_compression_AV1 : heif_compression_HEVC, &encoder));
  check(heif_encoder_set_logging_level(encoder, 0));
  if (options.exact) {
    check(heif_encoder_set_lossless(encoder, 1));
  } else {
    check(heif_encoder_set_lossy_quality(encoder, 95));
  }
  check(heif_encoder_set_parameter(encoder, "chroma", options.exact ? "444" : "420"));
  struct heif_encoding_options *encoding = heif_encoding_options_alloc();
  struct heif_color_profile_nclx *colors = heif_nclx_color_profile_alloc();
  check(heif_nclx_color_profile_set_color_primaries(colors, (uint16_t)options.primaries));
  check(heif_nclx_color_profile_set_transfer_characteristics(colors, (uint16_t)options.transfer));
  colors->matrix_coefficients =
      options.exact ? heif_matrix_coefficients_RGB_GBR : heif_matrix_coefficients_ITU_R_BT_601_6;
  colors->full_range_flag = 1;
  encoding->output_nclx_profile = colors;
  encoding->macOS_compatibility_workaround_no_nclx_profile = 0;
  encoding->image_orientation = (enum heif_orientation)options.orientation;
  struct heif_image *image = make_image(&options, pixels);
  if (!options.profile) check(heif_image_set_nclx_color_profile(image, colors));
  struct heif_image_handle *handle;
  check(heif_context_encode_image(context, image, encoder, encoding, &handle));
  fic_test_bytes result = {NULL, 0};
  struct heif_writer writer = {1, append};
  check(heif_context_write(context, &writer, &result));
  heif_image_handle_release(handle);
  heif_image_release(image);
  heif_nclx_color_profile_free(colors);
  heif_encoding_options_free(encoding);
  heif_encoder_release(encoder);
  heif_context_free(context);
  return result;
}

#endif
