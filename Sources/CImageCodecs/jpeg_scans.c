#if defined(__linux__)

#include "jpeg_scans.h"

#include <string.h>

#define MARKER_RST0 0xd0
#define MARKER_RST7 0xd7
#define MARKER_EOI 0xd9
#define MARKER_TEM 0x01

// A block's mean is an eighth of its first coefficient.
#define MEANS_PER_LEVEL 8

bool fic_jpeg_means_are_known(const struct jpeg_decompress_struct *codec) {
  if (!codec->progressive_mode || !codec->coef_bits) return false;
  for (int i = 0; i < codec->num_components; i++) {
    const JQUANT_TBL *steps = codec->comp_info[i].quant_table;
    int missing_bits = codec->coef_bits[i][0];
    // Minus one stands for a coefficient of which nothing has come.
    if (missing_bits < 0 || missing_bits > 8 || !steps) return false;
    unsigned error = ((1u << missing_bits) - 1) * steps->quantval[0];
    if (error > MEANS_PER_LEVEL) return false;
  }
  return true;
}

// The code of the next marker that is not part of a scan's data, and where it ends; 0 for none.
static int next_marker(const unsigned char **place, const unsigned char *end) {
  const unsigned char *byte = *place;
  while (byte < end && (byte = memchr(byte, 0xff, (size_t)(end - byte)))) {
    while (byte < end && *byte == 0xff) byte++;
    if (byte == end) return 0;
    int code = *byte++;
    if (code == 0 || (code >= MARKER_RST0 && code <= MARKER_RST7) || code == MARKER_TEM) continue;
    *place = byte;
    return code;
  }
  return 0;
}

bool fic_jpeg_rest_is_whole(const struct jpeg_decompress_struct *codec) {
  const unsigned char *place = codec->src->next_input_byte;
  const unsigned char *end = place + codec->src->bytes_in_buffer;
  // The marker behind a scan has been read already if the scan's data ended at it.
  int marker = codec->unread_marker ? codec->unread_marker : next_marker(&place, end);
  while (marker != 0 && marker != MARKER_EOI) {
    if (end - place < 2) return false;
    size_t length = (size_t)place[0] << 8 | place[1];
    if (length < 2 || length > (size_t)(end - place)) return false;
    place += length;
    marker = next_marker(&place, end);
  }
  return marker == MARKER_EOI;
}

#endif
