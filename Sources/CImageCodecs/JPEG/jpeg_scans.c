#if defined(__linux__)

#include "jpeg_reader.h"

#include <string.h>

#define MARKER_RST0 0xd0
#define MARKER_RST7 0xd7
#define MARKER_EOI 0xd9
#define MARKER_TEM 0x01

// A block's mean is an eighth of its first coefficient; the others matter about as much.
#define STEPS_PER_LEVEL 8

// A coefficient's index in a scan and in a table of quantisation steps.
typedef struct {
  int in_scan, in_table;
} place_of_coefficient;

// The first row and column, which two by two pixels of a block are made of. The other coefficients
// bring less than a third of that.
static const place_of_coefficient coarse[] = {{0, 0}, {1, 1}, {2, 8}, {4, 9}};

// Pixels along the side of a block at the scale of the output. Colours that are stored at half the
// resolution of brightness have two where brightness has one.
static int pixels_of_block(const jpeg_component_info *component) {
#if JPEG_LIB_VERSION >= 70
  return component->DCT_h_scaled_size;
#else
  return component->DCT_scaled_size;
#endif
}

bool fic_jpeg_pixels_are_known(const struct jpeg_decompress_struct *codec) {
  if (!codec->progressive_mode || !codec->coef_bits) return false;
  for (int i = 0; i < codec->num_components; i++) {
    const JQUANT_TBL *steps = codec->comp_info[i].quant_table;
    int side = pixels_of_block(&codec->comp_info[i]);
    if (side > 2 || !steps) return false;
    for (int k = 0; k < side * side; k++) {
      int missing_bits = codec->coef_bits[i][coarse[k].in_scan];
      // Minus one stands for a coefficient of which no bit has come.
      if (missing_bits < 0 || missing_bits > 8) return false;
      unsigned error = ((1u << missing_bits) - 1) * steps->quantval[coarse[k].in_table];
      if (error > STEPS_PER_LEVEL) return false;
    }
  }
  return true;
}

bool fic_jpeg_is_complete(const struct jpeg_decompress_struct *codec) {
  for (int i = 0; i < codec->num_components; i++) {
    // A component has its table from its first scan on; a scan that is not progressive has all bits.
    if (!codec->comp_info[i].quant_table) return false;
    for (int k = 0; codec->progressive_mode && k < DCTSIZE2; k++) {
      if (codec->coef_bits[i][k] != 0) return false;
    }
  }
  return true;
}

static bool stands_alone(int code) {
  return code == 0 || (code >= MARKER_RST0 && code <= MARKER_RST7) || code == MARKER_TEM;
}

// Returns the code of the next marker that is not part of a scan's data, or 0; moves `place` to its
// end.
static int next_marker(const unsigned char **place, const unsigned char *end) {
  const unsigned char *byte = *place;
  while (byte < end && (byte = memchr(byte, 0xff, (size_t)(end - byte)))) {
    while (byte < end && *byte == 0xff) byte++;
    if (byte == end) return 0;
    int code = *byte++;
    if (stands_alone(code)) continue;
    *place = byte;
    return code;
  }
  return 0;
}

bool fic_jpeg_rest_is_whole(const struct jpeg_decompress_struct *codec) {
  const unsigned char *place = codec->src->next_input_byte;
  const unsigned char *end = place + codec->src->bytes_in_buffer;
  // The marker behind a scan has been read already if the scan's data ended at it.
  int marker = codec->unread_marker;
  if (stands_alone(marker)) marker = next_marker(&place, end);
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
