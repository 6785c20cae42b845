#if defined(__linux__)

#include "CImageCodecs.h"

#include <stdlib.h>
#include <string.h>

#include <webp/encode.h>

struct fic_webp_writer {
  WebPConfig config;
  WebPPicture image;
  fic_rows_kind rows;
  int row_count;
  // Not WebPMemoryWriter, whose memory is libwebp's to free.
  uint8_t *bytes;
  size_t count, capacity;
  const char *message;
};

static int take_bytes(const uint8_t *source, size_t count, const WebPPicture *image) {
  fic_webp_writer *writer = image->custom_ptr;
  if (count > writer->capacity - writer->count) {
    size_t capacity = writer->capacity * 2 > writer->count + count ? writer->capacity * 2
                                                                   : writer->count + count;
    uint8_t *bytes = realloc(writer->bytes, capacity);
    if (!bytes) return 0;
    writer->bytes = bytes;
    writer->capacity = capacity;
  }
  memcpy(writer->bytes + writer->count, source, count);
  writer->count += count;
  return 1;
}

static fic_status give_up(fic_webp_writer *writer) {
  switch (writer->image.error_code) {
    case VP8_ENC_OK:  // libwebp sets no code at many allocations that fail
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BAD_WRITE:   // take_bytes found no memory
      return FIC_OUT_OF_MEMORY;
    case VP8_ENC_ERROR_BAD_DIMENSION:
      writer->message = "a WebP image has at most 16383 pixels a side";
      return FIC_TOO_LARGE;
    default:
      writer->message = "libwebp could not encode the image";
      return FIC_DAMAGED;
  }
}

fic_webp_writer *fic_webp_writer_create(void) {
  fic_webp_writer *writer = calloc(1, sizeof *writer);
  if (!writer) return NULL;
  writer->message = "";
  // Both fail only where the library is another than the header.
  if (WebPConfigInit(&writer->config) && WebPPictureInit(&writer->image)) return writer;
  free(writer);
  return NULL;
}

void fic_webp_writer_close(fic_webp_writer *writer) {
  if (!writer) return;
  WebPPictureFree(&writer->image);
  free(writer->bytes);
  free(writer);
}

const char *fic_webp_writer_message(const fic_webp_writer *writer) { return writer->message; }

fic_status fic_webp_begin(
    fic_webp_writer *writer, uint32_t width, uint32_t height, fic_rows_kind rows, bool lossless,
    float quality) {
  WebPPicture *image = &writer->image;
  writer->rows = rows;
  writer->config.lossless = lossless;
  writer->config.quality = quality;
  image->use_argb = 1;
  image->writer = take_bytes;
  image->custom_ptr = writer;
  // Before the memory for its pixels is asked for.
  if (width > WEBP_MAX_DIMENSION || height > WEBP_MAX_DIMENSION) {
    image->error_code = VP8_ENC_ERROR_BAD_DIMENSION;
    return give_up(writer);
  }
  image->width = (int)width;
  image->height = (int)height;
  return WebPPictureAlloc(image) ? FIC_OK : give_up(writer);
}

fic_status fic_webp_write_row(fic_webp_writer *writer, const uint8_t *row) {
  WebPPicture *image = &writer->image;
  if (writer->row_count >= image->height) return FIC_DAMAGED;
  uint32_t *target = image->argb + (size_t)writer->row_count++ * (size_t)image->argb_stride;
  for (int x = 0; x < image->width; x++) {
    if (writer->rows == FIC_ROWS_GRAY) {
      target[x] = 0xFF000000u | row[x] * 0x010101u;
    } else {
      const uint8_t *pixel = row + 4 * (size_t)x;
      uint32_t alpha = writer->rows == FIC_ROWS_BGRA ? pixel[3] : 255u;
      target[x] = alpha << 24 | (uint32_t)pixel[2] << 16 | (uint32_t)pixel[1] << 8 | pixel[0];
    }
  }
  return FIC_OK;
}

fic_status fic_webp_end(fic_webp_writer *writer, uint8_t **bytes, size_t *count) {
  if (!WebPEncode(&writer->config, &writer->image)) return give_up(writer);
  *bytes = writer->bytes;
  *count = writer->count;
  writer->bytes = NULL;
  return FIC_OK;
}

#endif
