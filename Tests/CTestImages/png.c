#if defined(__linux__)

#include "CTestImages.h"

#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

static void append(png_structp codec, png_bytep source, size_t count) {
  fic_test_bytes *result = png_get_io_ptr(codec);
  result->bytes = realloc(result->bytes, result->count + count);
  if (!result->bytes) abort();
  memcpy(result->bytes + result->count, source, count);
  result->count += count;
}

static void flush_nothing(png_structp codec) { (void)codec; }

static void set_transparency(png_structp codec, png_infop info, const fic_test_png *options) {
  if (options->transparency_count) {
    png_set_tRNS(
        codec, info, options->transparency, (int)options->transparency_count, NULL);
  } else if (options->transparent_color[0] >= 0) {
    png_color_16 color = {0};
    color.gray = (png_uint_16)options->transparent_color[0];
    color.red = (png_uint_16)options->transparent_color[0];
    color.green = (png_uint_16)options->transparent_color[1];
    color.blue = (png_uint_16)options->transparent_color[2];
    png_set_tRNS(codec, info, NULL, 0, &color);
  }
}

fic_test_bytes fic_test_encode_png(fic_test_png options, const uint8_t *rows) {
  fic_test_bytes result = {0};
  png_structp codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(codec);
  if (!info || setjmp(png_jmpbuf(codec))) abort();
  png_set_write_fn(codec, &result, append, flush_nothing);
  png_set_IHDR(
      codec, info, options.width, options.height, options.bit_depth, options.color_type,
      options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
      PNG_FILTER_TYPE_DEFAULT);
  if (options.palette) {
    png_set_PLTE(codec, info, (png_const_colorp)options.palette, (int)options.palette_count);
  }
  set_transparency(codec, info, &options);
  if (options.profile) {
    png_set_iCCP(
        codec, info, "profile", PNG_COMPRESSION_TYPE_BASE, options.profile,
        (png_uint_32)options.profile_count);
  }
  png_write_info(codec, info);
  size_t row_bytes = png_get_rowbytes(codec, info);
  int passes = png_set_interlace_handling(codec);
  for (int pass = 0; pass < passes; pass++) {
    for (uint32_t y = 0; y < options.height; y++) png_write_row(codec, rows + y * row_bytes);
  }
  png_write_end(codec, info);
  png_destroy_write_struct(&codec, &info);
  return result;
}

fic_test_bytes fic_test_deflate_zeros(size_t count, const uint8_t *head, size_t head_count) {
  fic_test_bytes result = {malloc(count / 500 + 1024 + head_count), 0};
  uint8_t zeros[4096] = {0};
  z_stream stream = {0};
  if (!result.bytes || deflateInit(&stream, 9) != Z_OK) abort();
  stream.next_out = result.bytes;
  stream.avail_out = (uInt)(count / 500 + 1024 + head_count);
  stream.next_in = (Bytef *)head;
  stream.avail_in = (uInt)head_count;
  if (deflate(&stream, Z_NO_FLUSH) != Z_OK) abort();
  while (count > 0) {
    size_t part = count < sizeof zeros ? count : sizeof zeros;
    stream.next_in = zeros;
    stream.avail_in = (uInt)part;
    if (deflate(&stream, Z_NO_FLUSH) != Z_OK || stream.avail_in) abort();
    count -= part;
  }
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) abort();
  result.count = stream.total_out;
  deflateEnd(&stream);
  return result;
}

#endif
