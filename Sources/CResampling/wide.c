#include "CResampling.h"

#if defined(__x86_64__)

#include <immintrin.h>

// Compiles a function for processors with AVX2; the rest of the program runs on older ones, too.
#define WIDE __attribute__((target("avx2")))

// The sums of 32 columns: of columns 0 to 7 and 16 to 23, and of the others. In this order one
// instruction turns bytes into 16-bit numbers.
typedef struct {
  __m256i low, high;
} column_sums;

WIDE static inline void add(column_sums *sums, const uint8_t *bytes, __m256i weight) {
  __m256i whole = _mm256_loadu_si256((const __m256i *)bytes);
  __m256i low = _mm256_unpacklo_epi8(_mm256_setzero_si256(), whole);
  __m256i high = _mm256_unpackhi_epi8(_mm256_setzero_si256(), whole);
  sums->low = _mm256_add_epi16(sums->low, _mm256_mulhi_epu16(low, weight));
  sums->high = _mm256_add_epi16(sums->high, _mm256_mulhi_epu16(high, weight));
}

WIDE static inline void store(const column_sums *sums, uint16_t *target) {
  __m256i first = _mm256_permute2x128_si256(sums->low, sums->high, 0x20);
  __m256i second = _mm256_permute2x128_si256(sums->low, sums->high, 0x31);
  _mm256_storeu_si256((__m256i *)target, first);
  _mm256_storeu_si256((__m256i *)(target + 16), second);
}

WIDE static void add_rows(
    const uint8_t *rows, size_t row_bytes, const uint16_t *weights, size_t count, size_t following,
    uint16_t *sums, size_t byte_count) {
  __m256i lost = _mm256_set1_epi16((short)(count / 2));
  size_t column = 0;
  // The processor brings 64 bytes into its cache at once.
  for (; column + 64 <= byte_count; column += 64) {
    column_sums left = {lost, lost};
    column_sums right = {lost, lost};
    const uint8_t *row = rows + column;
    for (size_t i = 0; i < count; i++, row += row_bytes) {
      __m256i weight = _mm256_set1_epi16((short)weights[i]);
      add(&left, row, weight);
      add(&right, row + 32, weight);
    }
    for (size_t i = 0; i < following; i++, row += row_bytes) __builtin_prefetch(row);
    store(&left, sums + column);
    store(&right, sums + column + 32);
  }
  fic_narrow_loops().add_rows(
      rows + column, row_bytes, weights, count, 0, sums + column, byte_count - column);
}

// Two pixels' sums of two taps each.
WIDE static inline __m256i load_pair(const uint16_t *first, const uint16_t *second) {
  __m256i low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)first));
  return _mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i *)second), 1);
}

// One group; `vectors` as in fic_pixel_weights.
WIDE static inline __m128i add_four(
    const uint16_t *sums, const uint32_t *starts, const __m256i *vectors, uint32_t pair_count) {
  __m256i left = _mm256_setzero_si256();
  __m256i right = left;
  for (uint32_t i = 0; i < pair_count; i++) {
    const uint16_t *pair = sums + (size_t)i * 8;
    __m256i first = load_pair(pair + starts[0], pair + starts[1]);
    __m256i second = load_pair(pair + starts[2], pair + starts[3]);
    left = _mm256_add_epi16(left, _mm256_mulhi_epu16(first, vectors[1 + 2 * i]));
    right = _mm256_add_epi16(right, _mm256_mulhi_epu16(second, vectors[2 + 2 * i]));
  }
  // The first and the third pixel in the lower half, the second and the fourth in the upper one.
  __m256i pixels =
      _mm256_add_epi16(_mm256_unpacklo_epi64(left, right), _mm256_unpackhi_epi64(left, right));
  pixels = _mm256_permute4x64_epi64(pixels, _MM_SHUFFLE(3, 1, 2, 0));
  pixels = _mm256_srli_epi16(_mm256_add_epi16(pixels, vectors[0]), 8);
  return _mm_packus_epi16(_mm256_castsi256_si128(pixels), _mm256_extracti128_si256(pixels, 1));
}

WIDE static void add_pixels(const uint16_t *sums, fic_pixel_weights weights, uint8_t *output) {
  for (size_t i = 0; i < weights.count; i += 4) {
    const __m256i *vectors = (const __m256i *)(weights.vectors + i / 4 * weights.stride);
    __m128i four = add_four(sums, weights.starts + i, vectors, weights.pair_counts[i / 4]);
    if (weights.count - i >= 4) {
      _mm_storeu_si128((__m128i *)(output + i * 4), four);
    } else {
      __builtin_memcpy(output + i * 4, &four, (weights.count - i) * 4);
    }
  }
}

fic_loops fic_widest_loops(void) {
  if (!__builtin_cpu_supports("avx2")) return fic_narrow_loops();
  return (fic_loops){add_rows, add_pixels};
}

#else

fic_loops fic_widest_loops(void) { return fic_narrow_loops(); }

#endif
