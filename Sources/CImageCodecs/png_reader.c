#if defined(__linux__)

#include "CImageCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

// How much of the file a row may take, beside FILE_BYTES_PER_PIXEL for each of its pixels: a file
// with chunks of one byte takes thirteen bytes for one.
#define ROW_SLACK (64 << 10)
#define FILE_BYTES_PER_PIXEL (16 * 8)

// A chunk's number of bytes and name stand before its content, its checksum behind.
enum { HEAD_BYTES = 8, CHECKSUM_BYTES = 4, SIGNATURE_AND_HEADER_BYTES = 33 };

// Those of `fic_png_chunks`, in the order in which libpng wants them.
enum { CHUNK_COUNT = 4 };

// Four bytes in place of a missing sum of all pixels, as a chunk.
static const uint8_t missing_sum[] = {0, 0, 0, 4, 'I',  'D',  'A',  'T',
                                      0, 0, 0, 0, 0xEA, 0x23, 0xE7, 0x07};

struct fic_png_reader {
  png_structp codec;
  png_infop info;
  jmp_buf escape;
  fic_status status;
  const uint8_t *bytes;
  size_t count, offset;
  size_t chunks[CHUNK_COUNT], chunk_end;
  uint32_t content;   // bytes of the chunk's content that are there
  int next_chunk;
  bool is_cut;
  // Of what libpng was refused: the file ends there, or other chunks follow.
  fic_status shortage;
  // How far the rows that are being read may reach.
  size_t row_end;
  uint64_t rows_left;
  char message[200];
};

static void give_up(png_structp codec, png_const_charp message) {
  fic_png_reader *reader = png_get_error_ptr(codec);
  // The reason may be known already: the data source or the memory ran out.
  if (reader->status == FIC_OK) reader->status = FIC_DAMAGED;
  snprintf(reader->message, sizeof reader->message, "%s", message);
  longjmp(reader->escape, 1);
}

// After a warning of libpng the pixels are right: it warns of extra chunks and odd metadata.
static void stay_silent(png_structp codec, png_const_charp message) {
  (void)codec;
  (void)message;
}

// Goes to the next chunk. After the first one with pixels there are none but those that follow it without a gap.
static bool begin_chunk(fic_png_reader *reader) {
  while (reader->next_chunk < CHUNK_COUNT && !reader->chunks[reader->next_chunk])
    reader->next_chunk++;
  size_t begin = reader->chunk_end;
  if (reader->next_chunk < CHUNK_COUNT) begin = reader->chunks[reader->next_chunk++];
  if (reader->count - begin < HEAD_BYTES) return false;
  const uint8_t *head = reader->bytes + begin;
  bool has_pixels = memcmp(head + 4, "IDAT", 4) == 0;
  if (reader->next_chunk == CHUNK_COUNT && !has_pixels) return false;
  size_t rest = reader->count - begin - HEAD_BYTES, length = png_get_uint_32(head);
  reader->content = (uint32_t)(length < rest ? length : rest);
  length += CHECKSUM_BYTES;
  reader->offset = begin;
  reader->chunk_end = begin + HEAD_BYTES + (length < rest ? length : rest);
  return true;
}

// After the last row libpng reads on to the end of its data. The row is written by then, and the numbers of rows and
// passes are those behind it.
static bool has_all_rows(const fic_png_reader *reader) {
  png_structp codec = reader->codec;
  bool interlaced = png_get_interlace_type(codec, reader->info) != PNG_INTERLACE_NONE;
  return interlaced
             ? png_get_current_pass_number(codec) == PNG_INTERLACE_ADAM7_PASSES
             : png_get_current_row_number(codec) == png_get_image_height(codec, reader->info);
}

static void note_shortage(fic_png_reader *reader) {
  bool ends = reader->count - reader->chunk_end < HEAD_BYTES;
  reader->shortage = ends ? FIC_TRUNCATED : FIC_DAMAGED;
}

// libpng decompresses nothing without bytes to read, even where pixels are left of those that it has read. So it gets
// the sum that some programs leave out. Pixels made of these bytes are not taken for the image's: the end of the
// pixels would have to follow, then four more bytes.
static bool add_sum(fic_png_reader *reader) {
  if (reader->is_cut || reader->bytes == missing_sum || has_all_rows(reader)) return false;
  note_shortage(reader);
  reader->bytes = missing_sum;
  reader->count = reader->row_end = reader->chunk_end = sizeof missing_sum;
  reader->content = 4;
  reader->offset = 0;
  return true;
}

// libpng asks for a chunk's head, parts of its content and its checksum, each by itself.
static void give_bytes(png_structp codec, png_bytep target, size_t count) {
  fic_png_reader *reader = png_get_io_ptr(codec);
  bool is_head = reader->offset == reader->chunk_end && count == HEAD_BYTES;
  bool has_chunk = !is_head || begin_chunk(reader) || add_sum(reader);
  if (!has_chunk || count > reader->chunk_end - reader->offset) {
    if (reader->bytes != missing_sum) note_shortage(reader);
    reader->status = reader->shortage;
    png_error(codec, "the pixels end early");
  }
  // Behind the last row libpng decompresses all data that is left, be it gigabytes.
  if (count > reader->row_end - reader->offset) png_error(codec, "more data than rows");
  memcpy(target, reader->bytes + reader->offset, count);
  // libpng asks for as much as a head announces, and would get nothing where less is left.
  if (is_head) png_save_uint_32(target, reader->content);
  reader->offset += count;
}

static png_voidp give_memory(png_structp codec, png_alloc_size_t count) {
  void *memory = malloc(count);
  if (!memory) {
    fic_png_reader *reader = png_get_mem_ptr(codec);
    reader->status = FIC_OUT_OF_MEMORY;
  }
  return memory;
}

static void take_memory(png_structp codec, png_voidp memory) {
  (void)codec;
  free(memory);
}

fic_png_reader *fic_png_reader_create(void) {
  fic_png_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  if (setjmp(reader->escape)) {
    fic_png_reader_close(reader);
    return NULL;
  }
  reader->codec = png_create_read_struct_2(
      PNG_LIBPNG_VER_STRING, reader, give_up, stay_silent, reader, give_memory, take_memory);
  if (reader->codec) reader->info = png_create_info_struct(reader->codec);
  if (!reader->info) {
    fic_png_reader_close(reader);
    return NULL;
  }
  return reader;
}

void fic_png_reader_close(fic_png_reader *reader) {
  if (!reader) return;
  png_destroy_read_struct(&reader->codec, &reader->info, NULL);
  free(reader);
}

const char *fic_png_reader_message(const fic_png_reader *reader) { return reader->message; }

static void set_limits(png_structp codec, uint32_t side_limit, size_t chunk_limit) {
  png_set_user_limits(codec, side_limit, side_limit);
  png_set_chunk_malloc_max(codec, chunk_limit);
  // Some programs announce fewer bytes to look back at than their pixels need.
  png_set_option(codec, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
}

static void set_output(fic_png_reader *reader, fic_png_header *header) {
  png_structp codec = reader->codec;
  int type = png_get_color_type(codec, reader->info);
  header->has_alpha =
      (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(codec, reader->info, PNG_INFO_tRNS);
  header->is_gray = !(type & PNG_COLOR_MASK_COLOR);
  bool gray = header->is_gray && !header->has_alpha;
  header->bytes_per_pixel = gray ? 1 : 4;
  png_set_expand(codec);
  png_set_scale_16(codec);
  if (gray) return;
  if (header->is_gray) png_set_gray_to_rgb(codec);
  png_set_bgr(codec);
  if (!header->has_alpha) png_set_filler(codec, 255, PNG_FILLER_AFTER);
}

void fic_png_pass_size(
    uint32_t width, uint32_t height, uint32_t pass, uint32_t *columns, uint32_t *rows) {
  *columns = PNG_PASS_COLS(width, pass);
  *rows = PNG_PASS_ROWS(height, pass);
}

static uint64_t rows_of_passes(uint32_t width, uint32_t height) {
  uint64_t sum = 0;
  for (uint32_t pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
    uint32_t columns, rows;
    fic_png_pass_size(width, height, pass, &columns, &rows);
    if (columns > 0) sum += rows;
  }
  return sum;
}

fic_status fic_png_start(
    fic_png_reader *reader, const uint8_t *bytes, size_t count, fic_png_chunks chunks,
    uint32_t side_limit, size_t chunk_limit, bool is_cut, fic_png_header *header) {
  png_structp codec = reader->codec;
  reader->bytes = bytes;
  reader->count = reader->row_end = count;
  reader->is_cut = is_cut;
  if (count < SIGNATURE_AND_HEADER_BYTES) return reader->status = FIC_TRUNCATED;
  reader->chunk_end = SIGNATURE_AND_HEADER_BYTES;
  size_t order[CHUNK_COUNT] = {chunks.profile, chunks.palette, chunks.transparency, chunks.pixels};
  memcpy(reader->chunks, order, sizeof order);
  if (setjmp(reader->escape)) return reader->status;
  set_limits(codec, side_limit, chunk_limit);
  png_set_read_fn(codec, reader, give_bytes);
  png_read_info(codec, reader->info);
  // Each chunk of pixels has a checksum of its own. The one behind all of them may be missing or wrong.
  png_set_option(codec, PNG_IGNORE_ADLER32, PNG_OPTION_ON);

  header->width = png_get_image_width(codec, reader->info);
  header->height = png_get_image_height(codec, reader->info);
  header->interlaced = png_get_interlace_type(codec, reader->info) != PNG_INTERLACE_NONE;
  header->profile = NULL;
  header->profile_count = 0;
  png_charp name;
  png_bytep profile;
  png_uint_32 profile_count;
  int compression;
  if (png_get_iCCP(codec, reader->info, &name, &compression, &profile, &profile_count)) {
    header->profile = profile;
    header->profile_count = profile_count;
  }
  set_output(reader, header);
  if (is_cut && header->interlaced) {
    reader->rows_left = rows_of_passes(header->width, header->height);
  } else {
    reader->rows_left = (uint64_t)header->height * (uint64_t)png_set_interlace_handling(codec);
  }
  png_read_update_info(codec, reader->info);
  if (png_get_rowbytes(codec, reader->info) != (size_t)header->width * header->bytes_per_pixel) {
    snprintf(reader->message, sizeof reader->message, "rows of an unexpected length");
    return reader->status = FIC_UNSUPPORTED;
  }
  return FIC_OK;
}

fic_status fic_png_read_rows(
    fic_png_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t count, bool fills_blocks) {
  if (setjmp(reader->escape)) {
    bool has_all = reader->shortage != FIC_OK && reader->bytes != missing_sum && has_all_rows(reader);
    return reader->status = has_all ? FIC_OK : reader->status;
  }
  if (count > reader->rows_left) png_error(reader->codec, "fewer rows than announced");
  reader->rows_left -= count;
  uint64_t pixels = (uint64_t)count * (png_get_image_width(reader->codec, reader->info) + 1);
  uint64_t reach = reader->offset + ROW_SLACK + pixels * FILE_BYTES_PER_PIXEL;
  reader->row_end = reach < reader->count ? (size_t)reach : reader->count;
  for (uint32_t i = 0; i < count; i++) {
    png_bytep row = rows + i * row_bytes;
    png_read_row(reader->codec, fills_blocks ? NULL : row, fills_blocks ? row : NULL);
  }
  return FIC_OK;
}

#endif
