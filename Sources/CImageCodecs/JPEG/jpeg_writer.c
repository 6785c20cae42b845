#if defined(__linux__)

#include "CImageCodecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

struct fic_jpeg_writer {
  struct jpeg_compress_struct codec;
  struct jpeg_error_mgr errors;
  jmp_buf escape;
  fic_status status;
  // Not jpeg_mem_dest: while that grows, only libjpeg knows the address of the bytes, and a failure
  // would leak them.
  struct jpeg_destination_mgr target;
  unsigned char *bytes;
  size_t capacity, count;
  char message[JMSG_LENGTH_MAX];
};

static void give_up(j_common_ptr codec) {
  fic_jpeg_writer *writer = codec->client_data;
  int code = codec->err->msg_code;
  writer->status = code == JERR_OUT_OF_MEMORY   ? FIC_OUT_OF_MEMORY
                   : code == JERR_IMAGE_TOO_BIG ? FIC_TOO_LARGE
                                                : FIC_DAMAGED;
  codec->err->format_message(codec, writer->message);
  longjmp(writer->escape, 1);
}

static void stay_silent(j_common_ptr codec) { (void)codec; }

static void reserve(j_compress_ptr codec, size_t capacity) {
  fic_jpeg_writer *writer = codec->client_data;
  unsigned char *bytes = realloc(writer->bytes, capacity);
  if (!bytes) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
  writer->target.next_output_byte = bytes + writer->capacity;
  writer->target.free_in_buffer = capacity - writer->capacity;
  writer->bytes = bytes;
  writer->capacity = capacity;
}

static void begin_output(j_compress_ptr codec) { reserve(codec, 64 << 10); }

// Called when all bytes are taken.
static boolean go_on_with_output(j_compress_ptr codec) {
  fic_jpeg_writer *writer = codec->client_data;
  reserve(codec, writer->capacity * 2);
  return TRUE;
}

static void end_output(j_compress_ptr codec) {
  fic_jpeg_writer *writer = codec->client_data;
  writer->count = writer->capacity - writer->target.free_in_buffer;
}

fic_jpeg_writer *fic_jpeg_writer_create(void) {
  fic_jpeg_writer *writer = calloc(1, sizeof *writer);
  if (!writer) return NULL;
  writer->codec.err = jpeg_std_error(&writer->errors);
  writer->codec.client_data = writer;
  writer->errors.error_exit = give_up;
  writer->errors.output_message = stay_silent;
  if (setjmp(writer->escape)) {
    fic_jpeg_writer_close(writer);
    return NULL;
  }
  jpeg_create_compress(&writer->codec);
  return writer;
}

void fic_jpeg_writer_close(fic_jpeg_writer *writer) {
  if (!writer) return;
  jpeg_destroy_compress(&writer->codec);
  free(writer->bytes);
  free(writer);
}

const char *fic_jpeg_writer_message(const fic_jpeg_writer *writer) { return writer->message; }

fic_status fic_jpeg_begin(
    fic_jpeg_writer *writer, uint32_t width, uint32_t height, bool gray, int quality,
    bool progressive, const uint8_t *profile, uint32_t profile_count) {
  struct jpeg_compress_struct *codec = &writer->codec;
  if (setjmp(writer->escape)) return writer->status;
  writer->target.init_destination = begin_output;
  writer->target.empty_output_buffer = go_on_with_output;
  writer->target.term_destination = end_output;
  codec->dest = &writer->target;
  codec->image_width = width;
  codec->image_height = height;
  codec->input_components = gray ? 1 : 4;
  codec->in_color_space = gray ? JCS_GRAYSCALE : JCS_EXT_BGRX;
  jpeg_set_defaults(codec);
  jpeg_set_quality(codec, quality, TRUE);
  codec->optimize_coding = TRUE;
  if (progressive) jpeg_simple_progression(codec);
  jpeg_start_compress(codec, TRUE);
  if (profile) jpeg_write_icc_profile(codec, profile, profile_count);
  return FIC_OK;
}

fic_status fic_jpeg_write_row(fic_jpeg_writer *writer, const uint8_t *row) {
  if (setjmp(writer->escape)) return writer->status;
  JSAMPROW pointers[1] = {(JSAMPROW)row};
  jpeg_write_scanlines(&writer->codec, pointers, 1);
  return FIC_OK;
}

fic_status fic_jpeg_end(fic_jpeg_writer *writer, uint8_t **bytes, size_t *count) {
  if (setjmp(writer->escape)) return writer->status;
  jpeg_finish_compress(&writer->codec);
  *bytes = writer->bytes;
  *count = writer->count;
  writer->bytes = NULL;
  return FIC_OK;
}

#endif
