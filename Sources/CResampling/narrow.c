#include "CResampling.h"

#if defined(__SSE2__) || defined(__aarch64__)

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t numbers __attribute__((vector_size(16)));

// The upper 16 bits of each product.
static inline numbers multiply(numbers a, numbers b);

#if defined(__SSE2__)

#include <emmintrin.h>

static inline numbers multiply(numbers a, numbers b) {
  return (numbers)_mm_mulhi_epu16((__m128i)a, (__m128i)b);
}

#else

#include <arm_neon.h>

static inline numbers multiply(numbers a, numbers b) {
  uint32x4_t low = vmull_u16(vget_low_u16((uint16x8_t)a), vget_low_u16((uint16x8_t)b));
  uint32x4_t high = vmull_high_u16((uint16x8_t)a, (uint16x8_t)b);
  return (numbers)vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
}

#endif

static inline numbers load(const void *address) {
  numbers result;
  __builtin_memcpy(&result, address, sizeof result);
  return result;
}

// The sums of sixteen columns.
typedef struct {
  numbers low, high;
} column_sums;

static inline void add(column_sums *sums, const uint8_t *row, numbers weight) {
  bytes zero = {0}, whole = (bytes)load(row);
  // Each byte times 256.
  bytes low = __builtin_shufflevector(
      zero, whole, 0, 16, 0, 17, 0, 18, 0, 19, 0, 20, 0, 21, 0, 22, 0, 23);
  bytes high = __builtin_shufflevector(
      zero, whole, 0, 24, 0, 25, 0, 26, 0, 27, 0, 28, 0, 29, 0, 30, 0, 31);
  sums->low += multiply((numbers)low, weight);
  sums->high += multiply((numbers)high, weight);
}

static void add_rows(
    const uint8_t *rows, size_t row_bytes, const uint16_t *weights, size_t count, size_t following,
    uint16_t *sums, size_t byte_count) {
  column_sums lost = {(numbers){0} + (uint16_t)(count / 2), (numbers){0} + (uint16_t)(count / 2)};
  size_t column = 0;
  // Four times sixteen columns fill the registers and share the step to the next row. The processor
  // brings 64 bytes into its cache at once.
  for (; column + 64 <= byte_count; column += 64) {
    column_sums parts[4] = {lost, lost, lost, lost};
    const uint8_t *row = rows + column;
    for (size_t i = 0; i < count; i++, row += row_bytes) {
      numbers weight = (numbers){0} + weights[i];
      add(&parts[0], row, weight);
      add(&parts[1], row + 16, weight);
      add(&parts[2], row + 32, weight);
      add(&parts[3], row + 48, weight);
    }
    for (size_t i = 0; i < following; i++, row += row_bytes) __builtin_prefetch(row);
    __builtin_memcpy(sums + column, parts, sizeof parts);
  }
  for (; column + 16 <= byte_count; column += 16) {
    column_sums part = lost;
    for (size_t i = 0; i < count; i++)
      add(&part, rows + i * row_bytes + column, (numbers){0} + weights[i]);
    __builtin_memcpy(sums + column, &part, sizeof part);
  }
  fic_plain_loops().add_rows(
      rows + column, row_bytes, weights, count, 0, sums + column, byte_count - column);
}

// The two pixels whose taps were added up in pairs, with their rounding.
static inline numbers add_halves(numbers first, numbers second, numbers rounding) {
  return rounding + __builtin_shufflevector(first, second, 0, 1, 2, 3, 8, 9, 10, 11)
      + __builtin_shufflevector(first, second, 4, 5, 6, 7, 12, 13, 14, 15);
}

static void add_pixels(const uint16_t *sums, fic_pixel_weights weights, uint8_t *output) {
  for (size_t i = 0; i < weights.count; i += 4) {
    const uint32_t *starts = weights.starts + i;
    const numbers *vectors = (const numbers *)(weights.vectors + i / 4 * weights.stride);
    const numbers *weight = vectors + 2;
    numbers first = {0}, second = {0}, third = {0}, fourth = {0};
    const uint16_t *taps = sums;
    for (uint32_t pair = 0; pair < weights.pair_counts[i / 4]; pair++, taps += 8, weight += 4) {
      first += multiply(load(taps + starts[0]), weight[0]);
      second += multiply(load(taps + starts[1]), weight[1]);
      third += multiply(load(taps + starts[2]), weight[2]);
      fourth += multiply(load(taps + starts[3]), weight[3]);
    }
    numbers left = add_halves(first, second, vectors[0]);
    numbers right = add_halves(third, fourth, vectors[1]);
    // The upper byte of each number.
    bytes four = __builtin_shufflevector(
        (bytes)left, (bytes)right, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    if (weights.count - i >= 4) {
      __builtin_memcpy(output + i * 4, &four, sizeof four);
    } else {
      __builtin_memcpy(output + i * 4, &four, (weights.count - i) * 4);
    }
  }
}

fic_loops fic_narrow_loops(void) { return (fic_loops){add_rows, add_pixels}; }

#else

fic_loops fic_narrow_loops(void) { return fic_plain_loops(); }

#endif
