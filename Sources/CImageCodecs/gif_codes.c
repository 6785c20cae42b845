#if defined(__linux__) && defined(FIC_GIF)

#include "gif_codes.h"

static void clear_table(fic_gif_codes *codes) {
  codes->code_size = codes->size + 1;
  codes->next = (1 << codes->size) + 2;
  codes->previous = -1;
}

void fic_gif_codes_begin(fic_gif_codes *codes, int size, const uint8_t *place, const uint8_t *end) {
  codes->size = size;
  codes->place = place;
  codes->end = end;
  codes->block_left = codes->bits = 0;
  codes->bit_count = codes->pending_count = 0;
  clear_table(codes);
}

// Returns the next code, or -1 where the bytes or their blocks end.
static int next_code(fic_gif_codes *codes) {
  while (codes->bit_count < codes->code_size) {
    if (codes->place == codes->end) return -1;
    if (codes->block_left == 0) {
      codes->block_left = *codes->place++;
      if (codes->block_left == 0) return -1;
      continue;
    }
    codes->bits |= (uint32_t)*codes->place++ << codes->bit_count;
    codes->bit_count += 8;
    codes->block_left--;
  }
  int code = (int)(codes->bits & ((1u << codes->code_size) - 1));
  codes->bits >>= codes->code_size;
  codes->bit_count -= codes->code_size;
  return code;
}

// Makes the indices of a code pending, and defines a code: the one before with this one's first index.
static fic_status take(fic_gif_codes *codes, int code) {
  const int clear = 1 << codes->size;
  int rest = code;
  if (code >= codes->next) {
    // The code that is being defined is the one before with its own first index.
    if (code != codes->next || codes->previous < 0) return FIC_DAMAGED;
    codes->pending_count = 1;
    rest = codes->previous;
  }
  for (; rest >= clear; rest = codes->prefixes[rest])
    codes->pending[codes->pending_count++] = codes->suffixes[rest];
  codes->pending[codes->pending_count++] = (uint8_t)rest;
  if (code == codes->next) codes->pending[0] = (uint8_t)rest;

  if (codes->previous >= 0 && codes->next < FIC_GIF_CODE_LIMIT) {
    codes->prefixes[codes->next] = (uint16_t)codes->previous;
    codes->suffixes[codes->next++] = (uint8_t)rest;
  }
  // Where indices have one bit, the code that is defined first has three.
  if (codes->next == 1 << codes->code_size && codes->code_size < 12) codes->code_size++;
  codes->previous = code;
  return FIC_OK;
}

fic_status fic_gif_codes_read(fic_gif_codes *codes, uint8_t *indices, size_t count) {
  while (count > 0) {
    if (codes->pending_count > 0) {
      *indices++ = codes->pending[--codes->pending_count];
      count--;
      continue;
    }
    int code = next_code(codes);
    // The end before the last row.
    if (code < 0 || code == (1 << codes->size) + 1) return FIC_TRUNCATED;
    if (code == 1 << codes->size) {
      clear_table(codes);
      continue;
    }
    fic_status status = take(codes, code);
    if (status != FIC_OK) return status;
  }
  return FIC_OK;
}

#endif
