#if defined(__linux__)

#include "CImageCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "jpeg_reader.h"

// Cameras leave a few bytes before a marker. More of them than this, unless they repeat one byte, mean that
// damage moved the blocks before them.
#define PADDING_LIMIT 16

#define MARKER_RST0 0xd0
#define MARKER_RST7 0xd7
#define MARKER_EOI 0xd9

struct fic_jpeg_reader {
  struct jpeg_decompress_struct codec;
  struct jpeg_error_mgr errors;
  jmp_buf escape;
  fic_jpeg_coefficients coefficients;
  fic_status status;
  const JOCTET *bytes;
  size_t count;
  uint32_t scan_limit;
  bool has_ended;     // libjpeg asked for more bytes than there are, and got an end marker of its own
  bool rest_is_cut;   // fic_jpeg_rest_is_whole said so
  bool shows_part;    // what libjpeg makes of damage is the image
  bool is_damaged;
  JSAMPROW passed_row;
  char message[JMSG_LENGTH_MAX];
};

static fic_jpeg_reader *reader_of(j_common_ptr codec) { return codec->client_data; }

fic_jpeg_coefficients *fic_jpeg_coefficients_of(const struct jpeg_decompress_struct *codec) {
  return &reader_of((j_common_ptr)codec)->coefficients;
}

static fic_status status_of(int code) {
  switch (code) {
    case JERR_OUT_OF_MEMORY:
      return FIC_OUT_OF_MEMORY;
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
    case JERR_NO_BACKING_STORE:  // more than max_memory_to_use
      return FIC_TOO_LARGE;
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_BAD_DCTSIZE:
      return FIC_UNSUPPORTED;
    case JERR_INPUT_EMPTY:
    case JERR_INPUT_EOF:
      return FIC_TRUNCATED;
    default:
      return FIC_DAMAGED;
  }
}

static void give_up(j_common_ptr codec) {
  fic_jpeg_reader *reader = reader_of(codec);
  reader->status = status_of(codec->err->msg_code);
  if (reader->has_ended && reader->status == FIC_DAMAGED) reader->status = FIC_TRUNCATED;
  if (codec->err->msg_code == JERR_NO_BACKING_STORE) {
    snprintf(
        reader->message, sizeof reader->message, "needs more than %ld bytes of working memory",
        codec->mem->max_memory_to_use);
  } else {
    codec->err->format_message(codec, reader->message);
  }
  longjmp(reader->escape, 1);
}

// True for bytes that no block needed, `count` of them up to `end`, if blocks before them are right.
//
// - has_marker: whether a marker follows that ends blocks. Otherwise anything may follow the image.
static bool is_left_over(
    const fic_jpeg_reader *reader, const JOCTET *end, size_t count, bool has_marker) {
  if (count <= PADDING_LIMIT) return true;
  size_t before = (size_t)(end - reader->bytes), run = 0;
  while (run < before && run <= count + PADDING_LIMIT && end[-1 - (ptrdiff_t)run] == end[-1]) run++;
  // Blocks were made of the same bytes, as where a program has reserved a file and not written its end.
  if (run > count + PADDING_LIMIT) return false;
  return !has_marker || run + PADDING_LIMIT >= count;
}

static bool is_padding(const fic_jpeg_reader *reader, size_t count) {
  // The next byte is one of libjpeg's own then. Whether all blocks have come is asked elsewhere.
  const JOCTET *end =
      reader->has_ended ? reader->bytes + reader->count : reader->codec.src->next_input_byte;
  return is_left_over(reader, end, count, !reader->has_ended);
}

static bool is_harmless(j_common_ptr codec) {
  j_decompress_ptr decoder = (j_decompress_ptr)codec;
  switch (codec->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
    case JWRN_BOGUS_ICC:
      return true;
    case JWRN_EXTRANEOUS_DATA:
      // Before the first scan these bytes are metadata of a wrong length, which the image does
      // not need.
      return decoder->input_scan_number == 0 ||
             is_padding(reader_of(codec), (size_t)codec->err->msg_parm.i[0]);
    case JWRN_JPEG_EOF:
      // A block that needs the missing bytes is another message, JWRN_HIT_MARKER; but arithmetic codes
      // go on with zeros without one.
      return decoder->input_scan_number > 0 && !decoder->arith_code;
    default:
      return false;
  }
}

// libjpeg goes on after a warning and fills unreadable parts with gray, which a cache would keep
// for ever. It is gray as a whole where the file ends within the first blocks.
static void hear_message(j_common_ptr codec, int level) {
  if (level >= 0) return;
  fic_jpeg_reader *reader = reader_of(codec);
  if (codec->err->msg_code == JWRN_JPEG_EOF) reader->has_ended = true;
  if (is_harmless(codec)) return;
  const struct jpeg_decompress_struct *decoder = &reader->codec;
  bool is_empty =
      reader->has_ended && decoder->input_scan_number <= 1 && decoder->input_iMCU_row == 0;
  if (!reader->shows_part || is_empty) give_up(codec);
  reader->is_damaged = true;
}

static void stay_silent(j_common_ptr codec) { (void)codec; }

fic_jpeg_reader *fic_jpeg_reader_create(void) {
  fic_jpeg_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  reader->codec.err = jpeg_std_error(&reader->errors);
  reader->codec.client_data = reader;
  reader->errors.error_exit = give_up;
  reader->errors.emit_message = hear_message;
  reader->errors.output_message = stay_silent;
  if (setjmp(reader->escape)) {
    fic_jpeg_reader_close(reader);
    return NULL;
  }
  jpeg_create_decompress(&reader->codec);
  fic_jpeg_own_coefficients(&reader->codec);
  return reader;
}

void fic_jpeg_reader_close(fic_jpeg_reader *reader) {
  if (!reader) return;
  jpeg_destroy_decompress(&reader->codec);
  free(reader);
}

const char *fic_jpeg_reader_message(const fic_jpeg_reader *reader) { return reader->message; }

static fic_status fail(fic_jpeg_reader *reader, fic_status status, const char *message) {
  snprintf(reader->message, sizeof reader->message, "%s", message);
  return reader->status = status;
}

// Whole rows and columns of blocks, as libjpeg keeps them (jdcoefct.c).
static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *codec) {
  uint64_t bytes = 0;
  for (int i = 0; i < codec->num_components; i++) {
    const jpeg_component_info *component = &codec->comp_info[i];
    uint64_t across = component->width_in_blocks + (uint64_t)component->h_samp_factor - 1;
    uint64_t down = component->height_in_blocks + (uint64_t)component->v_samp_factor - 1;
    bytes += across * down * sizeof(JBLOCK);
  }
  return bytes;
}

fic_status fic_jpeg_read_header(
    fic_jpeg_reader *reader, const uint8_t *bytes, size_t count, fic_jpeg_header *header) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  if (setjmp(reader->escape)) return reader->status;
  reader->bytes = bytes;
  reader->count = count;
  jpeg_mem_src(codec, bytes, count);
  jpeg_read_header(codec, TRUE);

  header->width = codec->image_width;
  header->height = codec->image_height;
  switch (codec->jpeg_color_space) {
    case JCS_GRAYSCALE:
      header->kind = FIC_JPEG_GRAY;
      codec->out_color_space = JCS_GRAYSCALE;
      break;
    case JCS_RGB:
    case JCS_YCbCr:
      header->kind = FIC_JPEG_COLOR;
      // JCS_EXT_BGRA guarantees 255 in the fourth byte; JCS_EXT_BGRX guarantees nothing.
      codec->out_color_space = JCS_EXT_BGRA;
      break;
    case JCS_CMYK:
    case JCS_YCCK:
      header->kind = FIC_JPEG_CMYK;
      codec->out_color_space = JCS_CMYK;
      break;
    default:
      snprintf(
          reader->message, sizeof reader->message, "%d color components", codec->num_components);
      return reader->status = FIC_UNSUPPORTED;
  }
  header->has_several_scans = jpeg_has_multiple_scans(codec);
  header->coefficient_bytes = header->has_several_scans ? coefficient_bytes(codec) : 0;
  return FIC_OK;
}

void fic_jpeg_lend(fic_jpeg_reader *reader, void *memory, size_t byte_count) {
  reader->coefficients.start = memory;
  reader->coefficients.byte_count = byte_count;
}

fic_status fic_jpeg_start(
    fic_jpeg_reader *reader, uint32_t eighths, bool interpolates_colors, bool shows_part,
    uint32_t scan_limit, size_t memory_limit, uint32_t *width, uint32_t *height) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  if (setjmp(reader->escape)) return reader->status;
  codec->scale_num = eighths;
  codec->scale_denom = 8;
  // Without it, libjpeg repeats colours and converts them in one step (jdmerge.c).
  codec->do_fancy_upsampling = interpolates_colors;
  codec->mem->max_memory_to_use = (long)memory_limit;
  // In this mode starting returns at once, and the scans come in by jpeg_consume_input, a row of
  // blocks at a time.
  codec->buffered_image = jpeg_has_multiple_scans(codec);
  // Smoothing guesses coefficients that have not come yet; an image of block means needs none of
  // them.
  codec->do_block_smoothing = FALSE;
  reader->scan_limit = scan_limit;
  reader->shows_part = shows_part;
  jpeg_start_decompress(codec);
  *width = codec->output_width;
  *height = codec->output_height;
  return FIC_OK;
}

// True when later scans bring only detail within the blocks, which an eighth of the size does not show, in a
// file that is whole. One without its end marker is read on, since its last scan may be cut.
static bool may_stop(fic_jpeg_reader *reader) {
  const struct jpeg_decompress_struct *codec = &reader->codec;
  if (codec->scale_num != 1 || reader->has_ended || reader->rest_is_cut ||
      !fic_jpeg_pixels_are_known(codec))
    return false;
  reader->rest_is_cut = !fic_jpeg_rest_is_whole(codec);
  return !reader->rest_is_cut;
}

bool fic_jpeg_is_damaged(const fic_jpeg_reader *reader) { return reader->is_damaged; }

// Begins the output of the scans before an error.
static fic_status show_scans(fic_jpeg_reader *reader, bool *complete) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  bool is_damage = reader->status == FIC_TRUNCATED || reader->status == FIC_DAMAGED;
  int last = codec->input_scan_number;
  // Of a scan that has not come to its end libjpeg would read on.
  if (codec->input_iMCU_row < codec->total_iMCU_rows) last--;
  if (!reader->shows_part || !is_damage || last < 1) return reader->status;
  if (setjmp(reader->escape)) return reader->status;
  jpeg_start_output(codec, last);
  reader->is_damaged = *complete = true;
  return reader->status = FIC_OK;
}

fic_status fic_jpeg_take_in(fic_jpeg_reader *reader, uint32_t steps, bool *complete) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  *complete = false;
  if (setjmp(reader->escape)) return show_scans(reader, complete);
  for (uint32_t i = 0; i < steps; i++) {
    int progress = jpeg_consume_input(codec);
    if (progress == JPEG_REACHED_EOI && reader->has_ended && !fic_jpeg_is_complete(codec)) {
      if (!reader->shows_part) return fail(reader, FIC_TRUNCATED, "ends before its last scan");
      reader->is_damaged = true;
    }
    if (progress == JPEG_REACHED_EOI || (progress == JPEG_SCAN_COMPLETED && may_stop(reader))) {
      *complete = true;
      jpeg_start_output(codec, codec->input_scan_number);
      return FIC_OK;
    }
    if ((uint32_t)codec->input_scan_number > reader->scan_limit) {
      snprintf(
          reader->message, sizeof reader->message, "more than %u scans", reader->scan_limit);
      return reader->status = FIC_TOO_LARGE;
    }
  }
  return FIC_OK;
}

// The next marker, or `end`. Behind it is at least one byte.
static const JOCTET *find_marker(const JOCTET *byte, const JOCTET *end) {
  while (end - byte > 1 && (byte = memchr(byte, 0xff, (size_t)(end - byte - 1)))) {
    if (byte[1] != 0 && byte[1] != 0xff) return byte;
    byte++;
  }
  return end;
}

// Looks at what the blocks of a file of one scan have left over, once its last row is read: libjpeg goes no further.
static fic_status check_end(fic_jpeg_reader *reader) {
  const struct jpeg_decompress_struct *codec = &reader->codec;
  if (codec->buffered_image || codec->output_scanline < codec->output_height) return FIC_OK;
  if (codec->unread_marker != 0 || reader->has_ended) return FIC_OK;
  const JOCTET *begin = codec->src->next_input_byte, *end = begin + codec->src->bytes_in_buffer;
  const JOCTET *marker = find_marker(begin, end);
  bool has_marker = marker < end && (marker[1] == MARKER_EOI || (marker[1] >= MARKER_RST0 &&
                                                                 marker[1] <= MARKER_RST7));
  if (is_left_over(reader, marker, (size_t)(marker - begin), has_marker)) return FIC_OK;
  if (!reader->shows_part) return fail(reader, FIC_DAMAGED, "bytes are left over behind the last block");
  reader->is_damaged = true;
  return FIC_OK;
}

fic_status fic_jpeg_read_rows(
    fic_jpeg_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t count) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  if (setjmp(reader->escape)) return reader->status;
  if (count > codec->output_height - codec->output_scanline)
    return fail(reader, FIC_DAMAGED, "fewer rows than announced");
  JDIMENSION end = codec->output_scanline + count;
  while (codec->output_scanline < end) {
    JSAMPROW pointers[16];
    JDIMENSION wanted = end - codec->output_scanline;
    if (wanted > 16) wanted = 16;
    for (JDIMENSION i = 0; i < wanted; i++) pointers[i] = rows + i * row_bytes;
    JDIMENSION written = jpeg_read_scanlines(codec, pointers, wanted);
    if (written == 0) return fail(reader, FIC_TRUNCATED, "no more rows");
    rows += written * row_bytes;
  }
  return check_end(reader);
}

fic_status fic_jpeg_keep_columns(fic_jpeg_reader *reader, uint32_t *first, uint32_t *count) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  if (setjmp(reader->escape)) return reader->status;
  JDIMENSION left = *first, width = *count;
  jpeg_crop_scanline(codec, &left, &width);
  *first = left;
  *count = width;
  return FIC_OK;
}

// Reads a row and forgets it.
static bool pass_row(fic_jpeg_reader *reader) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  if (!reader->passed_row) {
    reader->passed_row = codec->mem->alloc_large(
        (j_common_ptr)codec, JPOOL_IMAGE,
        (size_t)codec->output_width * (size_t)codec->output_components);
  }
  return jpeg_read_scanlines(codec, &reader->passed_row, 1) == 1;
}

// Rows of the output that come from one row of blocks of the coarsest component.
static JDIMENSION rows_of_blocks(const struct jpeg_decompress_struct *codec) {
#if JPEG_LIB_VERSION >= 70
  int side = codec->min_DCT_v_scaled_size;
#else
  int side = codec->min_DCT_scaled_size;
#endif
  return (JDIMENSION)(codec->max_v_samp_factor * side);
}

fic_status fic_jpeg_skip_rows(fic_jpeg_reader *reader, uint32_t count) {
  struct jpeg_decompress_struct *codec = &reader->codec;
  if (setjmp(reader->escape)) return reader->status;
  JDIMENSION left = codec->output_height - codec->output_scanline;
  if (count > left) return fail(reader, FIC_DAMAGED, "fewer rows than announced");
  // All coefficients are there.
  if (count == left && codec->buffered_image) return FIC_OK;
  JDIMENSION end = codec->output_scanline + count;
  // libjpeg loses its place if it skips from within a row of blocks: kept rows come late (jdmerge.c), or rows of
  // blocks are passed over that no skip has counted.
  JDIMENSION rows_at_a_time = rows_of_blocks(codec);
  while (codec->output_scanline < end && codec->output_scanline % rows_at_a_time != 0) {
    if (!pass_row(reader)) return fail(reader, FIC_TRUNCATED, "no more rows");
  }
  // Up to the very end, libjpeg would skip without a look at the bytes, which may be damaged.
  JDIMENSION wanted = end - codec->output_scanline;
  bool reads_last = wanted > 0 && end == codec->output_height;
  if (reads_last) wanted--;
  if (wanted > 0 && jpeg_skip_scanlines(codec, wanted) != wanted)
    return fail(reader, FIC_TRUNCATED, "no more rows");
  if (reads_last && !pass_row(reader)) return fail(reader, FIC_TRUNCATED, "no more rows");
  return check_end(reader);
}

#endif
