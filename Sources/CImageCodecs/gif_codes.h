#ifndef FIC_GIF_CODES_H
#define FIC_GIF_CODES_H

#include "CImageCodecs.h"

// Codes have at most twelve bits (GIF89a, appendix F).
#define FIC_GIF_CODE_LIMIT (1 << 12)

// The state of LZW between two rows. Its codes of one index each may have more bits than an index, as
// browsers allow and giflib does not; of those indices the lowest eight bits count.
typedef struct {
  const uint8_t *place, *end;   // what is left of the file
  uint32_t block_left;          // bytes of the block under way
  uint32_t bits;                // read, and not yet part of a code
  int bit_count;
  int size;                     // bits of the codes of one index each
  int code_size;
  int next;                     // the code that is defined next
  int previous;                 // the code before, or -1 behind a clear code
  uint16_t prefixes[FIC_GIF_CODE_LIMIT];
  uint8_t suffixes[FIC_GIF_CODE_LIMIT];
  uint8_t pending[FIC_GIF_CODE_LIMIT];   // indices of the last code, the first of them last
  int pending_count;
} fic_gif_codes;

// Begins at the first block behind the code size, which is at most 11.
void fic_gif_codes_begin(fic_gif_codes *codes, int size, const uint8_t *place, const uint8_t *end);

fic_status fic_gif_codes_read(fic_gif_codes *codes, uint8_t *indices, size_t count);

#endif
