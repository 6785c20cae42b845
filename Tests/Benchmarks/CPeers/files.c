#include "peers.h"

#include <stdio.h>
#include <stdlib.h>

// Thumbnail files as image libraries keep them: one for each image, read and decoded when wanted.

int bench_show(const bench_codec *codec, const bench_room *room, const void *bytes, size_t count,
               int reads) {
  void *pixels = malloc(bench_room_bytes(room));
  int failed = pixels ? codec->decode(room, bytes, count, pixels) : -1;
  if (!failed && reads) bench_keep(room->reader(pixels, bench_room_bytes(room)));
  free(pixels);
  return failed;
}

static int put(const bench_codec *codec, const bench_room *room, const uint8_t *key,
               const void *pixels) {
  void *bytes = NULL;
  size_t count = 0;
  char path[4096];
  bench_path(path, sizeof path, room, key, codec->type);
  int failed = codec->encode(room, pixels, &bytes, &count);
  FILE *file = failed ? NULL : fopen(path, "wb");
  if (file && fwrite(bytes, 1, count, file) != count) failed = -1;
  if (!file || fclose(file) != 0) failed = -1;
  free(bytes);
  return failed;
}

static int show_file(const bench_codec *codec, const bench_room *room, const char *path,
                     int reads) {
  FILE *file = fopen(path, "rb");
  if (!file) return -1;
  int failed = fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  void *bytes = !failed && size > 0 ? malloc((size_t)size) : NULL;
  failed = !bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size;
  fclose(file);
  if (!failed) failed = bench_show(codec, room, bytes, (size_t)size, reads);
  free(bytes);
  return failed;
}

static int get(const bench_codec *codec, const bench_room *room, const uint8_t *keys, size_t count,
               int reads) {
  for (size_t index = 0; index < count; index++) {
    char path[4096];
    bench_path(path, sizeof path, room, keys + index * 16, codec->type);
    int failed = show_file(codec, room, path, reads);
    if (failed) return failed;
  }
  return 0;
}

static int put_png(void *room, const uint8_t *key, const void *pixels) {
  return put(&bench_png, room, key, pixels);
}

static int get_png(void *room, const uint8_t *keys, size_t count, int reads) {
  return get(&bench_png, room, keys, count, reads);
}

static int put_webp(void *room, const uint8_t *key, const void *pixels) {
  return put(&bench_webp, room, key, pixels);
}

static int get_webp(void *room, const uint8_t *keys, size_t count, int reads) {
  return get(&bench_webp, room, keys, count, reads);
}

const bench_store bench_png_files = {
  .name = "PNG thumbnail files",
  .reason = "a PNG file for each image, written with fast filters, decoded by plain libpng",
  .roles = BENCH_TOUCH | BENCH_STORE | BENCH_SCROLL,
  .batch = 5,
  .open = bench_open_folder,
  .store = put_png,
  .get = get_png,
  .close = free,
};

const bench_store bench_webp_files = {
  .name = "WebP thumbnail files",
  .reason = "a WebP file for each image, quality 80, decoded by plain libwebp",
  .roles = BENCH_TOUCH | BENCH_STORE | BENCH_SCROLL,
  .batch = 10,
  .open = bench_open_folder,
  .store = put_webp,
  .get = get_webp,
  .close = free,
};
