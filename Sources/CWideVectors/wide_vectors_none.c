#if !defined(__x86_64__)

#include "CWideVectors.h"

// Vectors of 16 bytes are all that there is, and Swift has those.

bool fic_has_wide_vectors(void) { return false; }

void fic_wide_add_rows(
    const uint8_t *rows, size_t row_bytes, const uint16_t *weights, size_t count, size_t following,
    uint16_t *sums, size_t byte_count) {
  __builtin_trap();
}

void fic_wide_add_pixels(
    const uint16_t *sums, const fic_wide_weights *weights, size_t count, uint8_t *output) {
  __builtin_trap();
}

#endif
