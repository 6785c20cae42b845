#ifndef C_PEERS_H
#define C_PEERS_H

/// The function that `imagecache-bench --peers` calls; CBenchPeers.h declares it in full.
const void *bench_more_peers(void);

#endif
