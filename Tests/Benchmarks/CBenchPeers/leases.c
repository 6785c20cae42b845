#include "CBenchPeers.h"

#include <stdatomic.h>

typedef struct {
  _Atomic uint64_t state;
  uint64_t key, unused[6];
} line;

int bench_lease(void *lines, const uint32_t *order, size_t count) {
  for (size_t index = 0; index < count; index++) {
    line *found = (line *)lines + order[index];
    uint64_t state = atomic_load_explicit(&found->state, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(
        &found->state, &state, state + 1, memory_order_acquire, memory_order_relaxed)) {
    }
    // Lines of zeros have the key 0.
    if (found->key != 0) return -1;
    atomic_fetch_sub_explicit(&found->state, 1, memory_order_release);
  }
  return 0;
}
