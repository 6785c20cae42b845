#include "peers.h"

#include <stdlib.h>

#include <lmdb.h>

// The fastest of the key-value stores that read through a mapping. Values are found by the same 16
// bytes; a value stays where it is as long as the transaction that found it is open.

typedef struct {
  bench_room room;
  MDB_env *environment;
  MDB_dbi table;
  MDB_txn *reader;
} store;

static void close_store(void *opened) {
  store *store = opened;
  if (store->reader) mdb_txn_abort(store->reader);
  if (store->environment) mdb_env_close(store->environment);
  free(store);
}

static void *open_store(const bench_room *room) {
  store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  store->room = *room;
  MDB_txn *writer = NULL;
  // Values begin 16 bytes into a page, and a replaced value is kept until no reader can see it.
  size_t size = (bench_room_bytes(room) + 8192) * room->capacity * 2 + ((size_t)256 << 20);
  int failed = mdb_env_create(&store->environment) ||
               mdb_env_set_mapsize(store->environment, size) ||
               mdb_env_open(store->environment, room->folder, MDB_NOSYNC, 0600) ||
               mdb_txn_begin(store->environment, NULL, 0, &writer) ||
               mdb_dbi_open(writer, NULL, 0, &store->table) || mdb_txn_commit(writer) ||
               mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &store->reader);
  if (failed) {
    close_store(store);
    return NULL;
  }
  return store;
}

static int put(void *opened, const uint8_t *key, const void *pixels) {
  store *store = opened;
  MDB_val name = {16, (void *)key};
  MDB_val value = {bench_room_bytes(&store->room), (void *)pixels};
  MDB_txn *writer = NULL;
  // An open reader would keep replaced values.
  mdb_txn_reset(store->reader);
  int failed = mdb_txn_begin(store->environment, NULL, 0, &writer);
  if (!failed) {
    failed = mdb_put(writer, store->table, &name, &value, 0);
    if (failed) mdb_txn_abort(writer);
    else failed = mdb_txn_commit(writer);
  }
  int renewed = mdb_txn_renew(store->reader);
  return failed ? failed : renewed;
}

static int get(store *store, const uint8_t *keys, size_t count, int reads, int each) {
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    MDB_val name = {16, (void *)(keys + index * 16)}, value;
    if (each) {
      mdb_txn_reset(store->reader);
      int failed = mdb_txn_renew(store->reader);
      if (failed) return failed;
    }
    int failed = mdb_get(store->reader, store->table, &name, &value);
    if (failed) return failed;
    sum += reads ? store->room.reader(value.mv_data, value.mv_size)
                 : (uint64_t)(uintptr_t)value.mv_data;
  }
  bench_keep(sum);
  return 0;
}

static int get_each(void *store, const uint8_t *keys, size_t count, int reads) {
  return get(store, keys, count, reads, 1);
}

static int get_long(void *store, const uint8_t *keys, size_t count, int reads) {
  return get(store, keys, count, reads, 0);
}

const bench_store bench_lmdb_each = {
  .name = "LMDB, a read transaction per get",
  .reason = "a get yields a pointer into the mapping; its transaction is renewed for each, as it has "
            "to be where images change, and nothing is synced",
  .roles = BENCH_HANDLE | BENCH_TOUCH | BENCH_STORE | BENCH_OPEN | BENCH_BYTES,
  .batch = 1000,
  .open = open_store,
  .store = put,
  .get = get_each,
  .close = close_store,
};

const bench_store bench_lmdb_long = {
  .name = "LMDB, one long read transaction",
  .reason = "the same with one transaction for all gets, which is its best case: what is stored "
            "meanwhile is not seen, and no page is used again",
  .roles = BENCH_HANDLE | BENCH_TOUCH,
  .batch = 1000,
  .open = open_store,
  .store = put,
  .get = get_long,
  .close = close_store,
};
