#include "peers.h"

static const bench_store *const stores[] = {
  &bench_lmdb_each,  &bench_lmdb_long,  &bench_sqlite_raw,  &bench_sqlite_png,
  &bench_png_files,  &bench_webp_files, &bench_pixbuf_jpeg, &bench_pixbuf_png,
};

static const bench_shrinker *const shrinkers[] = {&bench_vipsthumbnail, &bench_pixbuf_scale};

static const bench_animator *const animators[] = {&bench_webp_animator};

static const bench_peers peers = {
  .version = BENCH_PEERS_VERSION,
  .store_count = sizeof stores / sizeof stores[0],
  .stores = stores,
  .shrinker_count = sizeof shrinkers / sizeof shrinkers[0],
  .shrinkers = shrinkers,
  .animator_count = sizeof animators / sizeof animators[0],
  .animators = animators,
};

const void *bench_more_peers(void);

const void *bench_more_peers(void) { return &peers; }
