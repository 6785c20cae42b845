#if defined(__linux__)

#include "CImageCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct fic_png_writer {
  png_structp codec;
  png_infop info;
  jmp_buf escape;
  fic_status status;
  uint8_t *bytes;
  size_t count, capacity;
  uint32_t color_count;
  char message[200];
};

static void give_up(png_structp codec, png_const_charp message) {
  fic_png_writer *writer = png_get_error_ptr(codec);
  if (writer->status == FIC_OK) writer->status = FIC_DAMAGED;
  snprintf(writer->message, sizeof writer->message, "%s", message);
  longjmp(writer->escape, 1);
}

static void stay_silent(png_structp codec, png_const_charp message) {
  (void)codec;
  (void)message;
}

static void take_bytes(png_structp codec, png_bytep source, size_t count) {
  fic_png_writer *writer = png_get_io_ptr(codec);
  if (count > writer->capacity - writer->count) {
    size_t capacity = writer->capacity * 2 > writer->count + count ? writer->capacity * 2
                                                                   : writer->count + count;
    uint8_t *bytes = realloc(writer->bytes, capacity);
    if (!bytes) {
      writer->status = FIC_OUT_OF_MEMORY;
      png_error(codec, "no memory for the encoded image");
    }
    writer->bytes = bytes;
    writer->capacity = capacity;
  }
  memcpy(writer->bytes + writer->count, source, count);
  writer->count += count;
}

static void flush_nothing(png_structp codec) { (void)codec; }

fic_png_writer *fic_png_writer_create(void) {
  fic_png_writer *writer = calloc(1, sizeof *writer);
  if (!writer) return NULL;
  if (setjmp(writer->escape)) {
    fic_png_writer_close(writer);
    return NULL;
  }
  writer->codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, give_up, stay_silent);
  if (writer->codec) writer->info = png_create_info_struct(writer->codec);
  if (!writer->info) {
    fic_png_writer_close(writer);
    return NULL;
  }
  return writer;
}

void fic_png_writer_close(fic_png_writer *writer) {
  if (!writer) return;
  png_destroy_write_struct(&writer->codec, &writer->info);
  free(writer->bytes);
  free(writer);
}

const char *fic_png_writer_message(const fic_png_writer *writer) { return writer->message; }

fic_status fic_png_set_palette(fic_png_writer *writer, const uint8_t *colors, uint32_t count) {
  png_color palette[256];
  png_byte alpha[256];
  uint32_t alpha_count = 0;
  if (count > 256) return FIC_DAMAGED;
  for (uint32_t i = 0; i < count; i++, colors += 4) {
    palette[i] = (png_color){.red = colors[2], .green = colors[1], .blue = colors[0]};
    alpha[i] = colors[3];
    if (alpha[i] < 255) alpha_count = i + 1;
  }
  if (setjmp(writer->escape)) return writer->status;
  png_set_PLTE(writer->codec, writer->info, palette, (int)count);
  if (alpha_count > 0) png_set_tRNS(writer->codec, writer->info, alpha, (int)alpha_count, NULL);
  writer->color_count = count;
  return FIC_OK;
}

fic_status fic_png_begin(
    fic_png_writer *writer, uint32_t width, uint32_t height, fic_rows_kind rows,
    const uint8_t *profile, size_t profile_count) {
  png_structp codec = writer->codec;
  if (setjmp(writer->escape)) return writer->status;
  png_set_write_fn(codec, writer, take_bytes, flush_nothing);
  bool is_indexed = rows == FIC_ROWS_INDEXED;
  int type = rows == FIC_ROWS_GRAY   ? PNG_COLOR_TYPE_GRAY
             : rows == FIC_ROWS_BGRX ? PNG_COLOR_TYPE_RGB
             : is_indexed            ? PNG_COLOR_TYPE_PALETTE
                                     : PNG_COLOR_TYPE_RGB_ALPHA;
  uint32_t colors = writer->color_count;
  int depth = !is_indexed || colors > 16 ? 8 : colors > 4 ? 4 : colors > 2 ? 2 : 1;
  png_set_IHDR(
      codec, writer->info, width, height, depth, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
      PNG_FILTER_TYPE_DEFAULT);
  if (profile) {
    png_set_iCCP(
        codec, writer->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, profile,
        (png_uint_32)profile_count);
  } else {
    png_set_sRGB(codec, writer->info, PNG_sRGB_INTENT_PERCEPTUAL);
  }
  png_write_info(codec, writer->info);
  if (rows == FIC_ROWS_BGRX) png_set_filler(codec, 0, PNG_FILLER_AFTER);
  if (is_indexed) {
    png_set_packing(codec);
  } else if (rows != FIC_ROWS_GRAY) {
    png_set_bgr(codec);
  }
  return FIC_OK;
}

fic_status fic_png_write_row(fic_png_writer *writer, const uint8_t *row) {
  if (setjmp(writer->escape)) return writer->status;
  png_write_row(writer->codec, row);
  return FIC_OK;
}

fic_status fic_png_end(fic_png_writer *writer, uint8_t **bytes, size_t *count) {
  if (setjmp(writer->escape)) return writer->status;
  png_write_end(writer->codec, NULL);
  *bytes = writer->bytes;
  *count = writer->count;
  writer->bytes = NULL;
  return FIC_OK;
}

#endif
