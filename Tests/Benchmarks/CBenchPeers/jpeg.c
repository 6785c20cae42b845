#if defined(__linux__)

#include "floors.h"
#include "jpeg_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// libjpeg as its manual shows it: the fastest decode with that library, and thumbnail files as
// other image caches keep them.

static void say_nothing(j_common_ptr codec) { (void)codec; }

/// The bytes of a file in memory of the caller; null for a failure.
static unsigned char *read_file(const char *path, unsigned long *count) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  unsigned char *bytes = NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    bytes = size > 0 ? malloc((size_t)size) : NULL;
    if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
      free(bytes);
      bytes = NULL;
    }
    *count = (unsigned long)size;
  }
  fclose(file);
  return bytes;
}

/// Decodes into rows `step` bytes apart; 0 writes all of them into the first.
static int decode(const unsigned char *bytes, unsigned long count, int eighths, size_t step,
                  size_t width, size_t height, unsigned char **volatile pixels, size_t size[2]) {
  struct jpeg_decompress_struct codec;
  error_handler handler;
  codec.err = jpeg_std_error(&handler.manager);
  handler.manager.error_exit = fail;
  handler.manager.output_message = say_nothing;
  if (setjmp(handler.leave)) {
    jpeg_destroy_decompress(&codec);
    return -1;
  }
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, bytes, count);
  jpeg_read_header(&codec, TRUE);
  codec.scale_num = (unsigned)eighths;
  codec.scale_denom = 8;
  codec.out_color_space = JCS_EXT_BGRX;
  jpeg_start_decompress(&codec);
  size[0] = codec.output_width;
  size[1] = codec.output_height;
  int fits = step == 0 || (size[0] == width && size[1] == height);
  if (fits && !*pixels) *pixels = malloc(step == 0 ? size[0] * 4 : step * height);
  if (!fits || !*pixels) {
    jpeg_destroy_decompress(&codec);
    return -1;
  }
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = *pixels + codec.output_scanline * step;
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
  return 0;
}

int bench_decode_jpeg(const char *file, int eighths, size_t *width, size_t *height) {
  unsigned long count = 0;
  unsigned char *bytes = read_file(file, &count);
  if (!bytes) return -1;
  unsigned char *row = NULL;
  size_t size[2] = {0, 0};
  int result = decode(bytes, count, eighths, 0, 0, 0, &row, size);
  if (row) bench_keep(row[0]);
  free(row);
  free(bytes);
  *width = size[0];
  *height = size[1];
  return result;
}

static int store_file(void *store, const uint8_t *key, const void *pixels) {
  const bench_room *room = store;
  char path[4096];
  bench_path(path, sizeof path, room, key, "jpg");
  struct jpeg_compress_struct codec;
  error_handler handler;
  codec.err = jpeg_std_error(&handler.manager);
  handler.manager.error_exit = fail;
  // `volatile`, since it changes after setjmp and is used after longjmp.
  FILE *volatile file = fopen(path, "wb");
  if (!file) return -1;
  if (setjmp(handler.leave)) {
    jpeg_destroy_compress(&codec);
    fclose(file);
    return -1;
  }
  jpeg_create_compress(&codec);
  jpeg_stdio_dest(&codec, file);
  codec.image_width = (JDIMENSION)room->width;
  codec.image_height = (JDIMENSION)room->height;
  codec.input_components = 4;
  codec.in_color_space = JCS_EXT_BGRX;
  jpeg_set_defaults(&codec);
  // The quality at which photo apps keep thumbnails.
  jpeg_set_quality(&codec, 80, TRUE);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW row = (JSAMPROW)pixels + codec.next_scanline * room->row_bytes;
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  return fclose(file) == 0 ? 0 : -1;
}

static int get_files(void *store, const uint8_t *keys, size_t count, int reads) {
  const bench_room *room = store;
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    char path[4096];
    bench_path(path, sizeof path, room, keys + index * 16, "jpg");
    unsigned long byte_count = 0;
    unsigned char *bytes = read_file(path, &byte_count);
    if (!bytes) return -1;
    unsigned char *pixels = NULL;
    size_t size[2];
    int result = decode(
      bytes, byte_count, 8, room->row_bytes, room->width, room->height, &pixels, size);
    if (result == 0 && reads) sum += room->reader(pixels, bench_room_bytes(room));
    free(pixels);
    free(bytes);
    if (result != 0) return result;
  }
  bench_keep(sum);
  return 0;
}

const bench_store bench_jpeg_files = {
  .name = "JPEG thumbnail files",
  .reason = "a JPEG file of the right size for each image, quality 80, read and decoded by plain "
            "libjpeg when it is wanted: what the common image libraries keep on disk",
  .roles = BENCH_TOUCH | BENCH_STORE | BENCH_SCROLL,
  .batch = 20,
  .open = bench_open_folder,
  .store = store_file,
  .get = get_files,
  .close = free,
};

#endif
