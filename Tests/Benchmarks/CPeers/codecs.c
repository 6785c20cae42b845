#include "peers.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <webp/decode.h>
#include <webp/encode.h>

typedef struct {
  unsigned char *bytes;
  size_t count, room;
} buffer;

static void append(png_structp png, png_bytep bytes, size_t count) {
  buffer *target = png_get_io_ptr(png);
  if (target->count + count > target->room) {
    size_t room = (target->count + count) * 2;
    unsigned char *larger = realloc(target->bytes, room);
    if (!larger) png_error(png, "no memory");
    target->bytes = larger;
    target->room = room;
  }
  memcpy(target->bytes + target->count, bytes, count);
  target->count += count;
}

static void flush_nothing(png_structp png) { (void)png; }

static int encode_png(const bench_room *room, const void *pixels, void **bytes, size_t *count) {
  buffer target = {0};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return -1;
  }
  png_set_write_fn(png, &target, append, flush_nothing);
  png_set_IHDR(png, info, (png_uint_32)room->width, (png_uint_32)room->height, 8,
               PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, 1);
  png_write_info(png, info);
  png_set_bgr(png);
  png_set_filler(png, 0, PNG_FILLER_AFTER);
  for (size_t row = 0; row < room->height; row++) {
    png_write_row(png, (png_const_bytep)pixels + row * room->row_bytes);
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  *bytes = target.bytes;
  *count = target.count;
  return 0;
}

static void take(png_structp png, png_bytep target, size_t count) {
  buffer *source = png_get_io_ptr(png);
  if (source->room - source->count < count) png_error(png, "too short");
  memcpy(target, source->bytes + source->count, count);
  source->count += count;
}

static int decode_png(const bench_room *room, const void *bytes, size_t count, void *pixels) {
  buffer source = {.bytes = (unsigned char *)bytes, .room = count};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, NULL);
    return -1;
  }
  png_set_read_fn(png, &source, take);
  png_read_info(png, info);
  png_set_bgr(png);
  png_set_filler(png, 255, PNG_FILLER_AFTER);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) > room->row_bytes ||
      png_get_image_height(png, info) != room->height) {
    png_error(png, "of another size");
  }
  for (size_t row = 0; row < room->height; row++) {
    png_read_row(png, (png_bytep)pixels + row * room->row_bytes, NULL);
  }
  png_destroy_read_struct(&png, &info, NULL);
  return 0;
}

static int encode_webp(const bench_room *room, const void *pixels, void **bytes, size_t *count) {
  uint8_t *encoded = NULL;
  *count = WebPEncodeBGRA(
    pixels, (int)room->width, (int)room->height, (int)room->row_bytes, 80, &encoded);
  // The caller frees with free(3), and libwebp does not promise to allocate with malloc(3).
  *bytes = *count > 0 ? malloc(*count) : NULL;
  if (*bytes) memcpy(*bytes, encoded, *count);
  WebPFree(encoded);
  return *bytes ? 0 : -1;
}

static int decode_webp(const bench_room *room, const void *bytes, size_t count, void *pixels) {
  uint8_t *result =
    WebPDecodeBGRAInto(bytes, count, pixels, bench_room_bytes(room), (int)room->row_bytes);
  return result ? 0 : -1;
}

const bench_codec bench_png = {"png", encode_png, decode_png};
const bench_codec bench_webp = {"webp", encode_webp, decode_webp};
