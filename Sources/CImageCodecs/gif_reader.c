#if defined(__linux__) && defined(FIC_GIF)

#include "CImageCodecs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gif_lib.h>

#include "gif_codes.h"

struct fic_gif_reader {
  GifFileType *file;
  const uint8_t *bytes;
  size_t count, offset;
  int error;
  char message[40];         // of what giflib has no words for
  uint8_t colors[256][4];   // B, G, R, alpha; indices behind the palette's end are black
  fic_gif_codes codes;
  int32_t repeats;
  uint8_t *indices;         // of one row
};

fic_gif_reader *fic_gif_reader_create(void) { return calloc(1, sizeof(fic_gif_reader)); }

void fic_gif_reader_close(fic_gif_reader *reader) {
  if (!reader) return;
  if (reader->file) DGifCloseFile(reader->file, NULL);
  free(reader->indices);
  free(reader);
}

const char *fic_gif_reader_message(const fic_gif_reader *reader) {
  if (reader->message[0]) return reader->message;
  return reader->error ? GifErrorString(reader->error) : NULL;
}

enum {
  // Parts of extensions before a frame, of up to 255 bytes each: a profile and metadata are a few
  // thousand of them.
  LEADING_BLOCK_LIMIT = 1 << 16,
};

static int read_bytes(GifFileType *file, GifByteType *target, int count) {
  fic_gif_reader *reader = file->UserData;
  size_t left = reader->count - reader->offset;
  size_t part = (size_t)count < left ? (size_t)count : left;
  memcpy(target, reader->bytes + reader->offset, part);
  reader->offset += part;
  return (int)part;
}

static fic_status failure(fic_gif_reader *reader, int error) {
  reader->error = error;
  switch (error) {
    case D_GIF_ERR_READ_FAILED:
    case D_GIF_ERR_EOF_TOO_SOON:
      return FIC_TRUNCATED;
    case D_GIF_ERR_NOT_ENOUGH_MEM:
      return FIC_OUT_OF_MEMORY;
    default:
      return FIC_DAMAGED;
  }
}

// The blocks of an application's extension; of several numbers of repeats the first counts.
static bool has_repeats(const GifByteType *block) {
  return block && block[0] == 11 && (memcmp(block + 1, "NETSCAPE2.0", 11) == 0 ||
                                     memcmp(block + 1, "ANIMEXTS1.0", 11) == 0);
}

// Goes through one extension; of graphics controls, the last one before a frame counts (GIF89a,
// section 23).
static fic_status read_extension(
    fic_gif_reader *reader, GraphicsControlBlock *control, int *blocks_left) {
  GifFileType *file = reader->file;
  int code;
  GifByteType *block;
  if (DGifGetExtension(file, &code, &block) == GIF_ERROR) return failure(reader, file->Error);
  // A block is its length and so many bytes.
  if (code == GRAPHICS_EXT_FUNC_CODE && block) DGifExtensionToGCB(block[0], block + 1, control);
  bool repeats = code == APPLICATION_EXT_FUNC_CODE && has_repeats(block);
  while (block) {
    if ((*blocks_left)-- == 0) return FIC_DAMAGED;
    if (DGifGetExtensionNext(file, &block) == GIF_ERROR) return failure(reader, file->Error);
    if (repeats && block && block[0] >= 3 && block[1] == 1 && reader->repeats < 0)
      reader->repeats = block[2] | block[3] << 8;
  }
  return FIC_OK;
}

static fic_status find_frame(
    fic_gif_reader *reader, GraphicsControlBlock *control, bool *is_end) {
  GifFileType *file = reader->file;
  int blocks_left = LEADING_BLOCK_LIMIT;
  for (;;) {
    GifRecordType type;
    if (DGifGetRecordType(file, &type) == GIF_ERROR) return failure(reader, file->Error);
    if (type == IMAGE_DESC_RECORD_TYPE) break;
    *is_end = type == TERMINATE_RECORD_TYPE;
    if (*is_end) return FIC_OK;
    if (type != EXTENSION_RECORD_TYPE || blocks_left-- == 0) return FIC_DAMAGED;
    fic_status status = read_extension(reader, control, &blocks_left);
    if (status != FIC_OK) return status;
  }
  if (DGifGetImageHeader(file) == GIF_OK) return FIC_OK;
  if (reader->offset == reader->count) return FIC_TRUNCATED;
  // giflib has read all of the header, and calls a code size above eight a failure to read.
  return file->Error == D_GIF_ERR_READ_FAILED ? FIC_OK : failure(reader, file->Error);
}

static fic_status begin_codes(fic_gif_reader *reader) {
  int size = reader->bytes[reader->offset - 1];
  // The codes that clear and end have one bit more.
  if (size > 11) {
    snprintf(reader->message, sizeof reader->message, "codes of %d bits", size + 1);
    return FIC_DAMAGED;
  }
  fic_gif_codes_begin(
      &reader->codes, size, reader->bytes + reader->offset, reader->bytes + reader->count);
  return FIC_OK;
}

static void fill_colors(fic_gif_reader *reader, const ColorMapObject *palette, int transparent) {
  memset(reader->colors, 0, sizeof reader->colors);
  for (int i = 0; i < 256; i++) {
    uint8_t *color = reader->colors[i];
    color[3] = 255;
    if (i < palette->ColorCount) {
      color[0] = palette->Colors[i].Blue;
      color[1] = palette->Colors[i].Green;
      color[2] = palette->Colors[i].Red;
    }
  }
  if (transparent >= 0 && transparent < 256) memset(reader->colors[transparent], 0, 4);
}

fic_status fic_gif_read_header(
    fic_gif_reader *reader, const uint8_t *bytes, size_t count, fic_gif_header *header) {
  memset(header, 0, sizeof *header);
  reader->bytes = bytes;
  reader->count = count;
  reader->repeats = -1;
  int error = 0;
  reader->file = DGifOpen(reader, read_bytes, &error);
  if (!reader->file) return failure(reader, error);
  fic_status status = fic_gif_take_frame(reader, reader->offset, header);
  return header->is_end ? FIC_DAMAGED : status;
}

fic_status fic_gif_pass_frame(const fic_gif_reader *reader, size_t *next) {
  *next = reader->offset;
  while (*next < reader->count) {
    size_t length = reader->bytes[(*next)++];
    if (length == 0) return FIC_OK;
    *next += length;
  }
  return FIC_TRUNCATED;
}

int32_t fic_gif_repeats(const fic_gif_reader *reader) { return reader->repeats; }

fic_status fic_gif_take_frame(fic_gif_reader *reader, size_t offset, fic_gif_header *header) {
  memset(header, 0, sizeof *header);
  reader->offset = offset;
  GraphicsControlBlock control = {.TransparentColor = NO_TRANSPARENT_COLOR};
  fic_status status = find_frame(reader, &control, &header->is_end);
  if (status != FIC_OK || header->is_end) return status;

  const GifFileType *file = reader->file;
  const GifImageDesc *frame = &file->Image;
  const ColorMapObject *palette = frame->ColorMap ? frame->ColorMap : file->SColorMap;
  if (!palette) return failure(reader, D_GIF_ERR_NO_COLOR_MAP);
  if (frame->Width < 1 || frame->Height < 1) return FIC_DAMAGED;
  fill_colors(reader, palette, control.TransparentColor);
  header->frame_x = (uint32_t)frame->Left;
  header->frame_y = (uint32_t)frame->Top;
  header->frame_width = (uint32_t)frame->Width;
  header->frame_height = (uint32_t)frame->Height;
  // All four are 16 bits wide, so the sums fit. As in browsers, a frame beyond its screen enlarges it.
  uint32_t right = header->frame_x + header->frame_width;
  uint32_t bottom = header->frame_y + header->frame_height;
  header->width = (uint32_t)file->SWidth > right ? (uint32_t)file->SWidth : right;
  header->height = (uint32_t)file->SHeight > bottom ? (uint32_t)file->SHeight : bottom;
  bool covers = header->frame_width == header->width && header->frame_height == header->height;
  header->is_transparent = control.TransparentColor >= 0;
  header->has_alpha = header->is_transparent || !covers;
  header->interlaced = frame->Interlace;
  header->delay = (uint32_t)control.DelayTime;
  header->disposal = (uint32_t)control.DisposalMode;
  return begin_codes(reader);
}

fic_status fic_gif_read_row(fic_gif_reader *reader, uint8_t *row) {
  int width = reader->file->Image.Width;
  if (!reader->indices) reader->indices = malloc((size_t)width);
  if (!reader->indices) return FIC_OUT_OF_MEMORY;
  fic_status status = fic_gif_codes_read(&reader->codes, reader->indices, (size_t)width);
  if (status == FIC_DAMAGED) return failure(reader, D_GIF_ERR_IMAGE_DEFECT);
  if (status != FIC_OK) return status;
  for (int x = 0; x < width; x++) memcpy(row + 4 * x, reader->colors[reader->indices[x]], 4);
  return FIC_OK;
}

#endif
