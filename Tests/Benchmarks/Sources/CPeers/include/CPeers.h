#ifndef C_PEERS_H
#define C_PEERS_H

/// What `imagecache-bench --peers` asks this library for; declared in full by CBenchPeers.h.
const void *bench_more_peers(void);

#endif
