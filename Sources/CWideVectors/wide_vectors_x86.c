#if defined(__x86_64__)

#include "CWideVectors.h"

#include <immintrin.h>

// Compiled for processors that have AVX2, whatever the rest of the program is compiled for.
#define WIDE __attribute__((target("avx2")))

bool fic_has_wide_vectors(void) { return __builtin_cpu_supports("avx2"); }

// The sums of 32 columns: of columns 0 to 7 and 16 to 23, and of the others, since that is how bytes
// become 16-bit numbers in one instruction.
typedef struct {
  __m256i low, high;
} wide_sums;

WIDE static inline void add(wide_sums *sums, const uint8_t *bytes, __m256i weight) {
  __m256i whole = _mm256_loadu_si256((const __m256i *)bytes);
  __m256i low = _mm256_unpacklo_epi8(_mm256_setzero_si256(), whole);
  __m256i high = _mm256_unpackhi_epi8(_mm256_setzero_si256(), whole);
  sums->low = _mm256_add_epi16(sums->low, _mm256_mulhi_epu16(low, weight));
  sums->high = _mm256_add_epi16(sums->high, _mm256_mulhi_epu16(high, weight));
}

WIDE static inline void store(const wide_sums *sums, uint16_t *target) {
  __m256i first = _mm256_permute2x128_si256(sums->low, sums->high, 0x20);
  __m256i second = _mm256_permute2x128_si256(sums->low, sums->high, 0x31);
  _mm256_storeu_si256((__m256i *)target, first);
  _mm256_storeu_si256((__m256i *)(target + 16), second);
}

WIDE void fic_wide_add_rows(
    const uint8_t *rows, size_t row_bytes, const uint16_t *weights, size_t count, size_t following,
    uint16_t *sums, size_t byte_count) {
  __m256i lost = _mm256_set1_epi16((short)(count / 2));
  __m128i zero = _mm_setzero_si128();
  size_t column = 0;
  // 64 bytes are what the processor brings into its cache at once.
  for (; column + 64 <= byte_count; column += 64) {
    wide_sums left = {lost, lost};
    wide_sums right = {lost, lost};
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
  for (; column + 16 <= byte_count; column += 16) {
    __m128i low = _mm256_castsi256_si128(lost), high = low;
    for (size_t i = 0; i < count; i++) {
      __m128i weight = _mm_set1_epi16((short)weights[i]);
      __m128i whole = _mm_loadu_si128((const __m128i *)(rows + i * row_bytes + column));
      low = _mm_add_epi16(low, _mm_mulhi_epu16(_mm_unpacklo_epi8(zero, whole), weight));
      high = _mm_add_epi16(high, _mm_mulhi_epu16(_mm_unpackhi_epi8(zero, whole), weight));
    }
    _mm_storeu_si128((__m128i *)(sums + column), low);
    _mm_storeu_si128((__m128i *)(sums + column + 8), high);
  }
  for (; column < byte_count; column++) {
    uint32_t sum = (uint32_t)(count / 2);
    for (size_t i = 0; i < count; i++)
      sum += (uint32_t)rows[i * row_bytes + column] * weights[i] >> 8;
    sums[column] = (uint16_t)sum;
  }
}

// Two pixels' sums of two taps each.
WIDE static inline __m256i load_pair(const uint8_t *first, const uint8_t *second) {
  __m256i low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)first));
  return _mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i *)second), 1);
}

// Four pixels; `vectors` as in fic_wide_weights.
WIDE static inline __m128i add_four(
    const uint8_t *sums, const uint32_t *starts, const __m256i *vectors, uint32_t pair_count) {
  __m256i left = _mm256_setzero_si256();
  __m256i right = left;
  for (uint32_t i = 0; i < pair_count; i++) {
    const uint8_t *pair = sums + (size_t)i * 16;
    __m256i first = load_pair(pair + starts[0], pair + starts[1]);
    __m256i second = load_pair(pair + starts[2], pair + starts[3]);
    left = _mm256_add_epi16(left, _mm256_mulhi_epu16(first, vectors[1 + 2 * i]));
    right = _mm256_add_epi16(right, _mm256_mulhi_epu16(second, vectors[2 + 2 * i]));
  }
  // The first and the third pixel in the lower half, the second and the fourth in the upper one.
  __m256i pixels =
      _mm256_add_epi16(_mm256_unpacklo_epi64(left, right), _mm256_unpackhi_epi64(left, right));
  pixels = _mm256_srli_epi16(_mm256_add_epi16(pixels, vectors[0]), 8);
  __m128i bytes =
      _mm_packus_epi16(_mm256_castsi256_si128(pixels), _mm256_extracti128_si256(pixels, 1));
  return _mm_shuffle_epi32(bytes, _MM_SHUFFLE(3, 1, 2, 0));
}

WIDE void fic_wide_add_pixels(
    const uint16_t *sums, const fic_wide_weights *weights, size_t count, uint8_t *output) {
  const uint8_t *bytes = (const uint8_t *)sums;
  for (size_t i = 0; i < count; i += 4) {
    const __m256i *vectors = (const __m256i *)(weights->vectors + i / 4 * weights->stride);
    __m128i four = add_four(bytes, weights->starts + i, vectors, weights->pair_counts[i / 4]);
    if (count - i >= 4) {
      _mm_storeu_si128((__m128i *)(output + i * 4), four);
    } else {
      __builtin_memcpy(output + i * 4, &four, (count - i) * 4);
    }
  }
}

#endif
