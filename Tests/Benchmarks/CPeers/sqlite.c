#include "peers.h"

#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

// Images as blobs in SQLite: raw, and as PNG, as a database of encoded images holds them.

typedef struct {
  bench_room room;
  const bench_codec *codec;
  sqlite3 *database;
  sqlite3_stmt *insert, *select;
} store;

static void close_store(void *opened) {
  store *store = opened;
  sqlite3_finalize(store->insert);
  sqlite3_finalize(store->select);
  sqlite3_close(store->database);
  free(store);
}

static void *open_store(const bench_room *room, const bench_codec *codec) {
  store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  store->room = *room;
  store->codec = codec;
  char path[4096];
  snprintf(path, sizeof path, "%s/pictures.sqlite", room->folder);
  // Large pages and a mapping suit large blobs best; nothing is synced.
  const char *setup = "PRAGMA page_size=65536; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
                      "PRAGMA mmap_size=4294967296;"
                      "CREATE TABLE IF NOT EXISTS images(key BLOB PRIMARY KEY, bytes BLOB)";
  const char *insert = "INSERT OR REPLACE INTO images VALUES(?, ?)";
  const char *select = "SELECT bytes FROM images WHERE key = ?";
  if (sqlite3_open(path, &store->database) ||
      sqlite3_exec(store->database, setup, NULL, NULL, NULL) ||
      sqlite3_prepare_v2(store->database, insert, -1, &store->insert, NULL) ||
      sqlite3_prepare_v2(store->database, select, -1, &store->select, NULL)) {
    close_store(store);
    return NULL;
  }
  return store;
}

static void *open_raw(const bench_room *room) { return open_store(room, NULL); }
static void *open_png(const bench_room *room) { return open_store(room, &bench_png); }

static int insert(store *store, const uint8_t *key, const void *bytes, size_t count) {
  sqlite3_bind_blob(store->insert, 1, key, 16, SQLITE_STATIC);
  sqlite3_bind_blob64(store->insert, 2, bytes, count, SQLITE_STATIC);
  int result = sqlite3_step(store->insert);
  sqlite3_reset(store->insert);
  return result == SQLITE_DONE ? 0 : result;
}

static int put(void *opened, const uint8_t *key, const void *pixels) {
  store *store = opened;
  if (!store->codec) return insert(store, key, pixels, bench_room_bytes(&store->room));
  void *bytes = NULL;
  size_t count = 0;
  int failed = store->codec->encode(&store->room, pixels, &bytes, &count);
  if (!failed) failed = insert(store, key, bytes, count);
  free(bytes);
  return failed;
}

static int get(void *opened, const uint8_t *keys, size_t count, int reads) {
  store *store = opened;
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    sqlite3_bind_blob(store->select, 1, keys + index * 16, 16, SQLITE_STATIC);
    int failed = sqlite3_step(store->select) == SQLITE_ROW ? 0 : -1;
    if (!failed) {
      const void *bytes = sqlite3_column_blob(store->select, 0);
      size_t byte_count = (size_t)sqlite3_column_bytes(store->select, 0);
      if (store->codec) failed = bench_show(store->codec, &store->room, bytes, byte_count, reads);
      else if (reads) sum += store->room.reader(bytes, byte_count);
    }
    sqlite3_reset(store->select);
    if (failed) return failed;
  }
  bench_keep(sum);
  return 0;
}

const bench_store bench_sqlite_raw = {
  .name = "SQLite, raw blobs",
  .reason = "pixels as blobs, with pages of 64 kB, a mapping, a write-ahead log, prepared statements "
            "and no syncing: SQLite as fast as it goes",
  .roles = BENCH_TOUCH | BENCH_STORE | BENCH_OPEN | BENCH_BYTES,
  .batch = 200,
  .open = open_raw,
  .store = put,
  .get = get,
  .close = close_store,
};

const bench_store bench_sqlite_png = {
  .name = "SQLite, PNG blobs",
  .reason = "the same with PNG inside, decoded at each get: small on disk and exact",
  .roles = BENCH_TOUCH | BENCH_STORE,
  .batch = 5,
  .open = open_png,
  .store = put,
  .get = get,
  .close = close_store,
};
