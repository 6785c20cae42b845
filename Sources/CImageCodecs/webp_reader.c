#if defined(__linux__)

#include "CImageCodecs.h"

#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

struct fic_webp_reader {
  WebPDemuxer *demuxer;
  WebPIterator frame;
  WebPDecoderConfig config;
  WebPIDecoder *decoder;
};

fic_webp_reader *fic_webp_reader_create(void) { return calloc(1, sizeof(fic_webp_reader)); }

void fic_webp_reader_close(fic_webp_reader *reader) {
  if (!reader) return;
  WebPIDelete(reader->decoder);
  WebPDemuxReleaseIterator(&reader->frame);
  WebPDemuxDelete(reader->demuxer);
  free(reader);
}

// The chunk's bytes lie in the caller's, so nothing is copied.
static void find_chunk(
    const WebPDemuxer *demuxer, const char *name, const uint8_t **bytes, size_t *count) {
  WebPChunkIterator chunk;
  *bytes = NULL;
  *count = 0;
  if (WebPDemuxGetChunk(demuxer, name, 1, &chunk)) {
    *bytes = chunk.chunk.bytes;
    *count = chunk.chunk.size;
    WebPDemuxReleaseChunkIterator(&chunk);
  }
}

static fic_status status_of(VP8StatusCode code) {
  switch (code) {
    case VP8_STATUS_OK:
      return FIC_OK;
    case VP8_STATUS_OUT_OF_MEMORY:
      return FIC_OUT_OF_MEMORY;
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return FIC_UNSUPPORTED;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return FIC_TRUNCATED;
    default:
      return FIC_DAMAGED;
  }
}

fic_status fic_webp_read_header(
    fic_webp_reader *reader, const uint8_t *bytes, size_t count, fic_webp_header *header) {
  WebPData data = {bytes, count};
  WebPDemuxState state;
  reader->demuxer = WebPDemuxPartial(&data, &state);
  if (state == WEBP_DEMUX_PARSE_ERROR) return FIC_DAMAGED;
  if (!reader->demuxer || state != WEBP_DEMUX_DONE) return FIC_TRUNCATED;
  if (!WebPDemuxGetFrame(reader->demuxer, 1, &reader->frame)) return FIC_DAMAGED;

  const WebPIterator *frame = &reader->frame;
  VP8StatusCode code =
      WebPGetFeatures(frame->fragment.bytes, frame->fragment.size, &reader->config.input);
  if (code != VP8_STATUS_OK) return status_of(code);

  header->width = WebPDemuxGetI(reader->demuxer, WEBP_FF_CANVAS_WIDTH);
  header->height = WebPDemuxGetI(reader->demuxer, WEBP_FF_CANVAS_HEIGHT);
  header->frame_x = (uint32_t)frame->x_offset;
  header->frame_y = (uint32_t)frame->y_offset;
  header->frame_width = (uint32_t)frame->width;
  header->frame_height = (uint32_t)frame->height;
  if (reader->config.input.width != frame->width || reader->config.input.height != frame->height ||
      (uint64_t)header->frame_x + header->frame_width > header->width ||
      (uint64_t)header->frame_y + header->frame_height > header->height)
    return FIC_DAMAGED;
  bool covers = frame->width == (int)header->width && frame->height == (int)header->height;
  header->has_alpha = reader->config.input.has_alpha || !covers;
  header->is_lossless = reader->config.input.format == 2;
  header->frame_count = frame->fragment.size;
  find_chunk(reader->demuxer, "ICCP", &header->profile, &header->profile_count);
  find_chunk(reader->demuxer, "EXIF", &header->exif, &header->exif_count);
  return FIC_OK;
}

fic_status fic_webp_start(
    fic_webp_reader *reader, uint8_t *rows, size_t row_bytes, size_t byte_count, uint32_t width,
    uint32_t height) {
  int frame_width = reader->frame.width, frame_height = reader->frame.height;
  WebPDecoderConfig *config = &reader->config;
  if (!WebPInitDecoderConfig(config)) return FIC_UNSUPPORTED;
  config->options.use_scaling = (int)width != frame_width || (int)height != frame_height;
  config->options.scaled_width = (int)width;
  config->options.scaled_height = (int)height;
  config->output.colorspace = MODE_bgrA;
  config->output.is_external_memory = 1;
  config->output.u.RGBA.rgba = rows;
  config->output.u.RGBA.stride = (int)row_bytes;
  config->output.u.RGBA.size = byte_count;
  reader->decoder = WebPIDecode(NULL, 0, config);
  return reader->decoder ? FIC_OK : FIC_OUT_OF_MEMORY;
}

fic_status fic_webp_decode(fic_webp_reader *reader, size_t count, bool *complete) {
  const WebPData *data = &reader->frame.fragment;
  VP8StatusCode code = WebPIUpdate(reader->decoder, data->bytes, count);
  *complete = code == VP8_STATUS_OK;
  if (code == VP8_STATUS_SUSPENDED && count < data->size) return FIC_OK;
  return status_of(code);
}

#endif
