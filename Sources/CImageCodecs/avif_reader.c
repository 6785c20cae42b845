#if defined(__linux__) && defined(FIC_AVIF)

#include "CImageCodecs.h"

#include <stdlib.h>
#include <string.h>

#include <avif/avif.h>

struct fic_avif_reader {
  avifDecoder *decoder;
  size_t count;             // bytes of the file
  uint32_t width, height;   // as stored
  avifCropRect shown;       // the part of it that is shown
  uint8_t *strip;           // converted rows of that part
  uint32_t strip_first, strip_count;
  const char *message;
};

fic_avif_reader *fic_avif_reader_create(void) { return calloc(1, sizeof(fic_avif_reader)); }

void fic_avif_reader_close(fic_avif_reader *reader) {
  if (!reader) return;
  if (reader->decoder) avifDecoderDestroy(reader->decoder);
  free(reader->strip);
  free(reader);
}

const char *fic_avif_reader_message(const fic_avif_reader *reader) {
  const avifDecoder *decoder = reader->decoder;
  return decoder && decoder->diag.error[0] ? decoder->diag.error : reader->message;
}

enum {
  // libavif takes memory for each frame of an animation that its tables announce.
  FRAME_COUNT_LIMIT = 1 << 14,
  STRIP_ROWS = 32,
  // Colours that are stored more coarsely are interpolated between rows: a strip has a pair of rows more on
  // either side, so that its rows are those of a conversion of the whole image.
  STRIP_MARGIN = 2,
};

static fic_status status_of(fic_avif_reader *reader, avifResult result) {
  reader->message = avifResultToString(result);
  switch (result) {
    case AVIF_RESULT_OK:
      return FIC_OK;
    case AVIF_RESULT_TRUNCATED_DATA:
    case AVIF_RESULT_WAITING_ON_IO:
    case AVIF_RESULT_IO_ERROR:
      return FIC_TRUNCATED;
    case AVIF_RESULT_OUT_OF_MEMORY:
      return FIC_OUT_OF_MEMORY;
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_REFORMAT_FAILED:
      return FIC_UNSUPPORTED;
    case AVIF_RESULT_BMFF_PARSE_FAILED:
      // "dimensions too large", "size too large": the only sign of libavif's own limits.
      return strstr(reader->decoder->diag.error, "too large") ? FIC_TOO_LARGE : FIC_DAMAGED;
    default:
      return FIC_DAMAGED;
  }
}

// The turn of EXIF 2.32, tag 0x0112, for a rotation and a mirroring after it (ISO/IEC 23008-12,
// sections 6.5.10 and 6.5.12).
static uint32_t orientation_of(const avifImage *image) {
  static const uint32_t rotated[4] = {1, 8, 3, 6};
  static const uint32_t top_to_bottom[4] = {4, 5, 2, 7};
  static const uint32_t left_to_right[4] = {2, 7, 4, 5};
  uint32_t angle = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0;
  if (!(image->transformFlags & AVIF_TRANSFORM_IMIR)) return rotated[angle];
  return image->imir.mode == 0 ? top_to_bottom[angle] : left_to_right[angle];
}

// Twice the decoded planes, for the codec and for a grid that is put together of its cells, and a byte a
// pixel for what the codec keeps of each block.
static uint64_t working_bytes(const avifDecoder *decoder) {
  const avifImage *image = decoder->image;
  uint64_t pixels = (uint64_t)image->width * image->height;
  avifPixelFormatInfo format;
  memset(&format, 0, sizeof format);
  avifGetPixelFormatInfo(image->yuvFormat, &format);
  uint64_t colors =
      format.monochrome ? 0 : 2 * (pixels >> (format.chromaShiftX + format.chromaShiftY));
  uint64_t samples = pixels + colors + (decoder->alphaPresent ? pixels : 0);
  return 2 * samples * (image->depth > 8 ? 2 : 1) + pixels;
}

static void fill_colors(const avifImage *image, fic_avif_header *header) {
  header->primaries = image->colorPrimaries;
  header->transfer = image->transferCharacteristics;
  header->profile = image->icc.data;
  header->profile_count = image->icc.size;
}

fic_status fic_avif_read_header(
    fic_avif_reader *reader, const uint8_t *bytes, size_t count, uint64_t pixel_limit,
    bool may_be_cut, fic_avif_header *header) {
  memset(header, 0, sizeof *header);
  avifDecoder *decoder = avifDecoderCreate();
  if (!decoder) return FIC_OUT_OF_MEMORY;
  reader->decoder = decoder;
  decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
  decoder->maxThreads = 1;
  decoder->ignoreExif = AVIF_TRUE;
  decoder->ignoreXMP = AVIF_TRUE;
  decoder->imageCountLimit = FRAME_COUNT_LIMIT;
  decoder->imageDimensionLimit = 0;
  if (pixel_limit < decoder->imageSizeLimit) decoder->imageSizeLimit = (uint32_t)pixel_limit;
  // Files of other encoders lack properties that libavif's own have.
  decoder->strictFlags = AVIF_STRICT_DISABLED;
  fic_status status = status_of(reader, avifDecoderSetIOMemory(decoder, bytes, count));
  if (status != FIC_OK) return status;
  reader->count = count;
  // With a hint libavif refuses tables that name bytes beyond it.
  if (may_be_cut) decoder->io->sizeHint = 0;
  status = status_of(reader, avifDecoderParse(decoder));
  if (status != FIC_OK) return status;

  const avifImage *image = decoder->image;
  reader->width = image->width;
  reader->height = image->height;
  reader->shown = (avifCropRect){0, 0, image->width, image->height};
  avifCropRect crop;
  if (image->transformFlags & AVIF_TRANSFORM_CLAP) {
    avifDiagnostics diagnostics;
    if (avifCropRectConvertCleanApertureBox(
            &crop, &image->clap, image->width, image->height, image->yuvFormat, &diagnostics))
      reader->shown = crop;
  }
  header->width = reader->shown.width;
  header->height = reader->shown.height;
  header->has_alpha = decoder->alphaPresent;
  header->orientation = orientation_of(image);
  header->working_bytes = working_bytes(decoder);
  header->decoded_pixels = (uint64_t)image->width * image->height;
  header->frames = (uint32_t)decoder->imageCount;
  header->repeats = -1;
#if AVIF_VERSION >= 1000000
  header->repeats = decoder->repetitionCount;
#endif
  fill_colors(image, header);
  return FIC_OK;
}

uint32_t fic_avif_whole_frames(const fic_avif_reader *reader) {
  uint32_t frame = 0;
  for (; frame < (uint32_t)reader->decoder->imageCount; frame++) {
    // The bytes of the frames that it refers to, too.
    avifExtent extent;
    avifResult result = avifDecoderNthImageMaxExtent(reader->decoder, frame, &extent);
    if (result != AVIF_RESULT_OK || extent.offset > reader->count ||
        extent.size > reader->count - extent.offset)
      break;
  }
  return frame;
}

double fic_avif_duration(const fic_avif_reader *reader, uint32_t frame) {
  avifImageTiming timing;
  avifResult result = avifDecoderNthImageTiming(reader->decoder, frame, &timing);
  return result == AVIF_RESULT_OK ? timing.duration : 0;
}

fic_status fic_avif_decode(fic_avif_reader *reader, fic_avif_header *header) {
  avifDecoder *decoder = reader->decoder;
  fic_status status = status_of(reader, avifDecoderNextImage(decoder));
  if (status != FIC_OK) return status;
  // The image inside may contradict the container, which the limits were held against.
  const avifImage *image = decoder->image;
  if (image->width != reader->width || image->height != reader->height) return FIC_DAMAGED;
  // A container may leave the colours to the image inside.
  fill_colors(image, header);
  return FIC_OK;
}

// Converts the rows around one of the part that is shown.
static fic_status convert_strip(fic_avif_reader *reader, uint32_t row) {
  const avifCropRect *shown = &reader->shown;
  size_t row_bytes = (size_t)shown->width * 4;
  if (!reader->strip) reader->strip = malloc((STRIP_ROWS + 2 * STRIP_MARGIN) * row_bytes);
  avifImage *part = avifImageCreateEmpty();
  if (!reader->strip || !part) {
    if (part) avifImageDestroy(part);
    return FIC_OUT_OF_MEMORY;
  }
  // Begins at a pair of rows, of which the part that is shown begins with one.
  uint32_t first = row - row % STRIP_ROWS;
  uint32_t above = first < STRIP_MARGIN ? first : STRIP_MARGIN;
  uint32_t left = shown->height - first;
  uint32_t below = left < STRIP_ROWS + STRIP_MARGIN ? left : STRIP_ROWS + STRIP_MARGIN;
  avifCropRect rect = {shown->x, shown->y + first - above, shown->width, above + below};
  fic_status status =
      status_of(reader, avifImageSetViewRect(part, reader->decoder->image, &rect));
  if (status == FIC_OK) {
    avifRGBImage target;
    avifRGBImageSetDefaults(&target, part);
    target.depth = 8;
    target.format = AVIF_RGB_FORMAT_BGRA;
    target.alphaPremultiplied = AVIF_TRUE;
    target.pixels = reader->strip;
    target.rowBytes = (uint32_t)row_bytes;
    status = status_of(reader, avifImageYUVToRGB(part, &target));
  }
  avifImageDestroy(part);
  reader->strip_first = first - above;
  reader->strip_count = status == FIC_OK ? above + below : 0;
  return status;
}

fic_status fic_avif_write_rows(
    fic_avif_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t first, uint32_t count) {
  size_t strip_row_bytes = (size_t)reader->shown.width * 4;
  for (uint32_t y = first; y < first + count; y++, rows += row_bytes) {
    // Rows come in turn, so a strip ends where the next one begins.
    if (reader->strip_count == 0 || y % STRIP_ROWS == 0) {
      fic_status status = convert_strip(reader, y);
      if (status != FIC_OK) return status;
    }
    memcpy(rows, reader->strip + (y - reader->strip_first) * strip_row_bytes, strip_row_bytes);
  }
  return FIC_OK;
}

#endif
