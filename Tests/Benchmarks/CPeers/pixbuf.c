#include "peers.h"

#include <stdlib.h>

#include <gdk-pixbuf/gdk-pixbuf.h>

// gdk-pixbuf, with which GTK applications load thumbnails.

static int put(const bench_room *room, const uint8_t *key, const uint8_t *pixels,
               const char *type, const char *option, const char *value) {
  char path[4096];
  bench_path(path, sizeof path, room, key, type);
  GdkPixbuf *image = gdk_pixbuf_new(
    GDK_COLORSPACE_RGB, FALSE, 8, (int)room->width, (int)room->height);
  if (!image) return -1;
  uint8_t *target = gdk_pixbuf_get_pixels(image);
  size_t stride = (size_t)gdk_pixbuf_get_rowstride(image);
  for (size_t row = 0; row < room->height; row++) {
    for (size_t column = 0; column < room->width; column++) {
      const uint8_t *from = pixels + row * room->row_bytes + column * 4;
      uint8_t *to = target + row * stride + column * 3;
      to[0] = from[2], to[1] = from[1], to[2] = from[0];
    }
  }
  gboolean saved = gdk_pixbuf_save(image, path, type, NULL, option, value, NULL);
  g_object_unref(image);
  return saved ? 0 : -1;
}

static int get(const bench_room *room, const uint8_t *keys, size_t count, int reads,
               const char *type) {
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    char path[4096];
    bench_path(path, sizeof path, room, keys + index * 16, type);
    GdkPixbuf *image = gdk_pixbuf_new_from_file(path, NULL);
    if (!image) return -1;
    if (reads) sum += room->reader(gdk_pixbuf_read_pixels(image),
                                   gdk_pixbuf_get_byte_length(image));
    g_object_unref(image);
  }
  bench_keep(sum);
  return 0;
}

static int put_jpeg(void *room, const uint8_t *key, const void *pixels) {
  return put(room, key, pixels, "jpeg", "quality", "80");
}

static int get_jpeg(void *room, const uint8_t *keys, size_t count, int reads) {
  return get(room, keys, count, reads, "jpeg");
}

static int put_png(void *room, const uint8_t *key, const void *pixels) {
  return put(room, key, pixels, "png", "compression", "1");
}

static int get_png(void *room, const uint8_t *keys, size_t count, int reads) {
  return get(room, keys, count, reads, "png");
}

const bench_store bench_pixbuf_jpeg = {
  .name = "gdk-pixbuf, JPEG thumbnails",
  .reason = "what a GTK application does with a thumbnail file; its pixels have three bytes",
  .roles = BENCH_TOUCH,
  .batch = 20,
  .open = bench_open_folder,
  .store = put_jpeg,
  .get = get_jpeg,
  .close = free,
};

const bench_store bench_pixbuf_png = {
  .name = "gdk-pixbuf, PNG thumbnails",
  .reason = "the same with the PNG files that the freedesktop.org thumbnail standard asks for",
  .roles = BENCH_TOUCH,
  .batch = 5,
  .open = bench_open_folder,
  .store = put_png,
  .get = get_png,
  .close = free,
};

static int scale(const char *const *files, size_t count, int width, int height,
                 const char *folder) {
  (void)width, (void)folder;
  for (size_t index = 0; index < count; index++) {
    // As wide as its proportions make it, which covers the square.
    GdkPixbuf *image = gdk_pixbuf_new_from_file_at_scale(files[index], -1, height, TRUE, NULL);
    if (!image) return -1;
    bench_keep(*gdk_pixbuf_read_pixels(image));
    g_object_unref(image);
  }
  return 0;
}

const bench_shrinker bench_pixbuf_scale = {
  .name = "gdk-pixbuf at scale",
  .reason = "gdk_pixbuf_new_from_file_at_scale, which decodes at reduced size too; nothing is kept",
  .shrink = scale,
};
