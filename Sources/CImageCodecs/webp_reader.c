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
  bool has_alpha;
};

fic_webp_reader *fic_webp_reader_create(void) { return calloc(1, sizeof(fic_webp_reader)); }

void fic_webp_reader_close(fic_webp_reader *reader) {
  if (!reader) return;
  WebPIDelete(reader->decoder);
  WebPDemuxReleaseIterator(&reader->frame);
  WebPDemuxDelete(reader->demuxer);
  free(reader);
}

enum {
  RIFF_HEADER_COUNT = 12,
  CHUNK_HEADER_COUNT = 8,
  // Chunks before the first image; the format has four kinds of them.
  LEADING_CHUNK_LIMIT = 64,
};

static uint32_t little_endian(const uint8_t *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool has_name(const uint8_t *chunk, const char *name) { return memcmp(chunk, name, 4) == 0; }

static bool is_image(const uint8_t *chunk, uint8_t flags) {
  return has_name(chunk, "VP8 ") || has_name(chunk, "VP8L") ||
         ((flags & ANIMATION_FLAG) && has_name(chunk, "ANMF"));
}

// Finds where the first image ends, and the EXIF chunk, which may stand behind all images (RFC
// 9649, section 2.7). libwebp's demuxer knows both, but takes memory for each frame and each chunk
// that it sees, and a file within the limits may have millions. So the demuxer gets only the first
// image and the chunks before it.
//
// A file is cut if it lacks bytes of the first image, or the turn that its flags announce. Whatever else it lacks
// does not matter, as in other formats: some encoders count a few bytes more than they write.
static fic_status find_parts(
    const uint8_t *bytes, size_t count, bool may_be_cut, size_t *image_end, bool *is_unpadded,
    fic_webp_header *header) {
  if (count < RIFF_HEADER_COUNT) return FIC_TRUNCATED;
  const uint64_t announced_end = (uint64_t)little_endian(bytes + 4) + 8;
  const bool is_short = announced_end > count;
  const uint64_t end = is_short ? count : announced_end;
  const fic_status cut = is_short ? FIC_TRUNCATED : FIC_DAMAGED;
  // Fewer missing bytes than the header of a chunk has are no chunk.
  bool lacks_chunk = announced_end >= end + CHUNK_HEADER_COUNT;
  uint8_t flags = 0;
  int leading_count = 0;
  *image_end = 0;
  for (uint64_t offset = RIFF_HEADER_COUNT; offset < end;) {
    if (end - offset < CHUNK_HEADER_COUNT) {
      lacks_chunk |= is_short;
      break;
    }
    const uint8_t *chunk = bytes + offset;
    uint32_t size = little_endian(chunk + 4);
    uint64_t chunk_end = offset + CHUNK_HEADER_COUNT + size;
    bool is_first = *image_end == 0 && is_image(chunk, flags);
    if (chunk_end > end) {
      lacks_chunk = true;
      if (is_first) {
        header->is_cut = true;
        *image_end = (size_t)end;
      }
      break;
    }
    // A byte of padding follows chunks of an odd size; the last chunk may lack it.
    uint64_t next = chunk_end + (size & 1);
    if (next > end) next = end;
    if (offset == RIFF_HEADER_COUNT && has_name(chunk, "VP8X") && size > 0)
      flags = chunk[CHUNK_HEADER_COUNT];
    if (is_first) {
      *image_end = (size_t)next;
      *is_unpadded = next == chunk_end && (size & 1);
    } else if (*image_end == 0 && ++leading_count > LEADING_CHUNK_LIMIT) {
      return FIC_DAMAGED;
    }
    if (!header->exif && (flags & EXIF_FLAG) && has_name(chunk, "EXIF")) {
      header->exif = chunk + CHUNK_HEADER_COUNT;
      header->exif_count = size;
    }
    // The rest may be many chunks, which the disk need not even deliver.
    if (*image_end > 0 && (header->exif || !(flags & EXIF_FLAG))) break;
    offset = next;
  }
  if (*image_end == 0) return cut;
  if (lacks_chunk && (flags & EXIF_FLAG) && !header->exif) header->is_cut = true;
  return header->is_cut && !may_be_cut ? cut : FIC_OK;
}

// Points into the caller's bytes; nothing is copied.
static void find_profile(const WebPDemuxer *demuxer, fic_webp_header *header) {
  WebPChunkIterator chunk;
  if (WebPDemuxGetChunk(demuxer, "ICCP", 1, &chunk)) {
    header->profile = chunk.chunk.bytes;
    header->profile_count = chunk.chunk.size;
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
    fic_webp_reader *reader, const uint8_t *bytes, size_t count, bool may_be_cut,
    fic_webp_header *header) {
  size_t image_end;
  bool is_unpadded = false;
  memset(header, 0, sizeof *header);
  fic_status status =
      find_parts(bytes, count, may_be_cut, &image_end, &is_unpadded, header);
  if (status != FIC_OK) return status;
  WebPData data = {bytes, image_end};
  WebPDemuxState state;
  reader->demuxer = WebPDemuxPartial(&data, &state);
  if (state == WEBP_DEMUX_PARSE_ERROR) return FIC_DAMAGED;
  if (!reader->demuxer) return FIC_TRUNCATED;
  // The demuxer misses the byte of padding; the decoder does not need it.
  if (!WebPDemuxGetFrame(reader->demuxer, 1, &reader->frame))
    return header->is_cut ? FIC_TRUNCATED : FIC_DAMAGED;
  if (!reader->frame.complete && !is_unpadded) header->is_cut = true;
  if (header->is_cut && !may_be_cut) return FIC_DAMAGED;

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
  reader->has_alpha = reader->config.input.has_alpha;
  header->has_alpha = reader->has_alpha || !covers;
  header->is_lossless = reader->config.input.format == 2;
  header->frame_count = frame->fragment.size;
  find_profile(reader->demuxer, header);
  return FIC_OK;
}

fic_status fic_webp_take_frame(
    fic_webp_reader *reader, const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
    bool *has_alpha) {
  WebPIterator *frame = &reader->frame;
  frame->fragment.bytes = bytes;
  frame->fragment.size = count;
  frame->width = (int)width;
  frame->height = (int)height;
  WebPBitstreamFeatures *input = &reader->config.input;
  VP8StatusCode code = WebPGetFeatures(bytes, count, input);
  if (code != VP8_STATUS_OK) return status_of(code);
  if (input->width != frame->width || input->height != frame->height) return FIC_DAMAGED;
  *has_alpha = reader->has_alpha = input->has_alpha;
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
  config->output.colorspace = reader->has_alpha ? MODE_bgrA : MODE_BGRA;
  config->output.is_external_memory = 1;
  config->output.u.RGBA.rgba = rows;
  config->output.u.RGBA.stride = (int)row_bytes;
  config->output.u.RGBA.size = byte_count;
  reader->decoder = WebPIDecode(NULL, 0, config);
  return reader->decoder ? FIC_OK : FIC_OUT_OF_MEMORY;
}

// A lossless file may hold alpha and declare none; the declaration counts (RFC 9649, section 3.4).
static void make_opaque(const WebPDecBuffer *output) {
  for (int y = 0; y < output->height; y++) {
    uint8_t *row = output->u.RGBA.rgba + (size_t)y * (size_t)output->u.RGBA.stride;
    for (int x = 0; x < output->width; x++) row[4 * x + 3] = 255;
  }
}

fic_status fic_webp_decode(fic_webp_reader *reader, size_t count, bool *complete) {
  const WebPData *data = &reader->frame.fragment;
  VP8StatusCode code = WebPIUpdate(reader->decoder, data->bytes, count);
  *complete = code == VP8_STATUS_OK;
  if (*complete && !reader->has_alpha) make_opaque(&reader->config.output);
  if (code == VP8_STATUS_SUSPENDED && count < data->size) return FIC_OK;
  return status_of(code);
}

uint32_t fic_webp_rows_written(fic_webp_reader *reader) {
  int end = 0;
  if (!WebPIDecGetRGB(reader->decoder, &end, NULL, NULL, NULL)) return 0;
  if (!reader->has_alpha) make_opaque(&reader->config.output);
  return (uint32_t)end;
}

#endif
