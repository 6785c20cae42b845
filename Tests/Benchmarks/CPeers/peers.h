#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "room.h"

/// A kind of encoded image.
typedef struct {
  const char *type;
  /// Encodes into memory that the caller frees; 0 for success.
  int (*encode)(const bench_room *room, const void *pixels, void **bytes, size_t *count);
  /// Decodes into memory of `bench_room_bytes` bytes; 0 for success.
  int (*decode)(const bench_room *room, const void *bytes, size_t count, void *pixels);
} bench_codec;

extern const bench_codec bench_png, bench_webp;

/// Decodes an image into fresh memory, reads it if asked to, and frees it.
int bench_show(const bench_codec *codec, const bench_room *room, const void *bytes, size_t count,
               int reads);

extern const bench_store bench_lmdb_each, bench_lmdb_long, bench_sqlite_raw, bench_sqlite_png,
  bench_png_files, bench_webp_files, bench_pixbuf_jpeg, bench_pixbuf_png;
extern const bench_animator bench_webp_animator;
extern const bench_shrinker bench_pixbuf_scale, bench_vipsthumbnail;

#endif
