#if defined(__linux__)

#include "CTestImages.h"

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

static void set_color(struct jpeg_compress_struct *codec, const fic_test_jpeg *options) {
  if (options->components == 1) jpeg_set_colorspace(codec, JCS_GRAYSCALE);
  if (options->components == 3) jpeg_set_colorspace(codec, options->rgb ? JCS_RGB : JCS_YCbCr);
  if (options->components == 4) jpeg_set_colorspace(codec, options->ycck ? JCS_YCCK : JCS_CMYK);
  codec->write_Adobe_marker = options->adobe;
}

fic_test_bytes fic_test_encode_jpeg(fic_test_jpeg options, const uint8_t *pixels) {
  struct jpeg_compress_struct codec;
  struct jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char *bytes = NULL;
  unsigned long count = 0;
  jpeg_mem_dest(&codec, &bytes, &count);
  codec.image_width = options.width;
  codec.image_height = options.height;
  codec.input_components = (int)options.components;
  codec.in_color_space = options.components == 1   ? JCS_GRAYSCALE
                         : options.components == 3 ? JCS_RGB
                                                   : JCS_CMYK;
  jpeg_set_defaults(&codec);
  set_color(&codec, &options);
  jpeg_set_quality(&codec, options.quality, TRUE);
  if (options.h_sampling) {
    for (int i = 0; i < codec.num_components; i++) {
      codec.comp_info[i].h_samp_factor = i == 0 || i == 3 ? (int)options.h_sampling : 1;
      codec.comp_info[i].v_samp_factor = i == 0 || i == 3 ? (int)options.v_sampling : 1;
    }
  }
  codec.arith_code = options.arithmetic;
  codec.restart_in_rows = (int)options.restart_rows;
  jpeg_scan_info scans[4];
  if (options.progressive) {
    jpeg_simple_progression(&codec);
  } else if (options.scan_per_component) {
    for (int i = 0; i < codec.num_components; i++) {
      scans[i] = (jpeg_scan_info){1, {i, 0, 0, 0}, 0, 63, 0, 0};
    }
    codec.scan_info = scans;
    codec.num_scans = codec.num_components;
  }
  jpeg_start_compress(&codec, TRUE);
  if (options.profile) {
    jpeg_write_icc_profile(&codec, options.profile, (unsigned)options.profile_count);
  }
  size_t row_bytes = (size_t)options.width * options.components;
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW row = (JSAMPROW)(pixels + codec.next_scanline * row_bytes);
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  return (fic_test_bytes){bytes, count};
}

#endif
