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

// libpng decompresses pieces of the file of this size; one that is not there as a whole is lost.
#define PIECE_OF_CUT_FILE 256

struct fic_png_reader {
  png_structp codec;
  png_infop info;
  jmp_buf escape;
  fic_status status;
  const uint8_t *bytes;
  size_t count, offset;
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

static void give_bytes(png_structp codec, png_bytep target, size_t count) {
  fic_png_reader *reader = png_get_io_ptr(codec);
  if (count > reader->count - reader->offset) {
    reader->status = FIC_TRUNCATED;
    png_error(codec, "the file ends early");
  }
  // Behind the last row libpng decompresses all data that is left, be it gigabytes.
  if (count > reader->row_end - reader->offset) png_error(codec, "more data than rows");
  memcpy(target, reader->bytes + reader->offset, count);
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
  png_set_chunk_cache_max(codec, 32);
  png_set_chunk_malloc_max(codec, chunk_limit);
  png_set_crc_action(codec, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  // Of the optional chunks, only those about colour are decompressed: text and the like may be
  // compressed a thousandfold.
  png_set_keep_unknown_chunks(codec, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_set_keep_unknown_chunks(codec, PNG_HANDLE_CHUNK_AS_DEFAULT, (png_const_bytep) "iCCP\0sRGB", 2);
}

// gAMA and cHRM are left aside: many programs write wrong ones, and browsers show such files as
// sRGB.
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
    fic_png_reader *reader, const uint8_t *bytes, size_t count, uint32_t side_limit,
    size_t chunk_limit, bool is_cut, fic_png_header *header) {
  png_structp codec = reader->codec;
  reader->bytes = bytes;
  reader->count = reader->row_end = count;
  if (setjmp(reader->escape)) return reader->status;
  set_limits(codec, side_limit, chunk_limit);
  png_set_read_fn(codec, reader, give_bytes);
  png_read_info(codec, reader->info);

  header->width = png_get_image_width(codec, reader->info);
  header->height = png_get_image_height(codec, reader->info);
  header->interlaced = png_get_interlace_type(codec, reader->info) != PNG_INTERLACE_NONE;
  header->profile = NULL;
  header->profile_count = 0;
  png_charp name;
  png_bytep profile;
  png_uint_32 profile_count;
  int compression;
  if (!png_get_valid(codec, reader->info, PNG_INFO_sRGB) &&
      png_get_iCCP(codec, reader->info, &name, &compression, &profile, &profile_count)) {
    header->profile = profile;
    header->profile_count = profile_count;
  }
  set_output(reader, header);
  if (is_cut) png_set_compression_buffer_size(codec, PIECE_OF_CUT_FILE);
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
    fic_png_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t count) {
  if (setjmp(reader->escape)) return reader->status;
  if (count > reader->rows_left) png_error(reader->codec, "fewer rows than announced");
  reader->rows_left -= count;
  uint64_t pixels = (uint64_t)count * (png_get_image_width(reader->codec, reader->info) + 1);
  uint64_t reach = reader->offset + ROW_SLACK + pixels * FILE_BYTES_PER_PIXEL;
  reader->row_end = reach < reader->count ? (size_t)reach : reader->count;
  for (uint32_t i = 0; i < count; i++) {
    png_read_row(reader->codec, rows + i * row_bytes, NULL);
  }
  return FIC_OK;
}

fic_status fic_png_finish(fic_png_reader *reader) {
  if (setjmp(reader->escape)) return reader->status;
  reader->row_end = reader->count;
  png_read_end(reader->codec, NULL);
  return FIC_OK;
}

#endif
