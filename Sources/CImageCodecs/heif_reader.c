#if defined(__linux__) && defined(FIC_HEIF)

#include "CImageCodecs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libheif/heif.h>

// exit(3) destroys libheif's registry of decoders, which open contexts use. The process therefore ends only
// when no context is open, and opens no other.
static atomic_int open_contexts;
static atomic_bool is_ending;

// A decode that hangs must not hold up exit(3) for longer.
enum { LONGEST_WAIT_MS = 2000 };

static void wait_for_contexts(void) {
  atomic_store(&is_ending, true);
  for (int i = 0; i < LONGEST_WAIT_MS && atomic_load(&open_contexts) > 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

// A child of fork(2) has none of the threads that would close them.
static void forget_contexts(void) { atomic_store(&open_contexts, 0); }

// When this object is loaded, libheif has registered its own handlers, which therefore run later. The first
// use would be too late: it may come while exit(3) is under way.
__attribute__((constructor)) static void register_handlers(void) {
  atexit(wait_for_contexts);
  pthread_atfork(NULL, NULL, forget_contexts);
}

// Each `true` wants one call of `end_context`.
static bool begin_context(void) {
  // Counted before the look at `is_ending`: either this thread sees that, or the handler sees the count.
  atomic_fetch_add(&open_contexts, 1);
  if (!atomic_load(&is_ending)) return true;
  atomic_fetch_sub(&open_contexts, 1);
  return false;
}

static void end_context(void) { atomic_fetch_sub(&open_contexts, 1); }

struct fic_heif_reader {
  struct heif_context *context;
  struct heif_image_handle *primary;
  struct heif_image *image;
  uint8_t *profile;
  uint32_t width, height;   // of the decoded image
  bool has_alpha, is_premultiplied;
  char message[128];
};

fic_heif_reader *fic_heif_reader_create(void) { return calloc(1, sizeof(fic_heif_reader)); }

void fic_heif_reader_close(fic_heif_reader *reader) {
  if (!reader) return;
  if (reader->image) heif_image_release(reader->image);
  if (reader->primary) heif_image_handle_release(reader->primary);
  if (reader->context) {
    heif_context_free(reader->context);
    end_context();
  }
  free(reader->profile);
  free(reader);
}

const char *fic_heif_reader_message(const fic_heif_reader *reader) { return reader->message; }

static fic_status status_of(fic_heif_reader *reader, struct heif_error error) {
  if (error.code == heif_error_Ok) return FIC_OK;
  strncpy(reader->message, error.message ? error.message : "", sizeof reader->message - 1);
  switch (error.code) {
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
      return FIC_UNSUPPORTED;
    case heif_error_Memory_allocation_error:
      return error.subcode == heif_suberror_Security_limit_exceeded ? FIC_TOO_LARGE
                                                                    : FIC_OUT_OF_MEMORY;
    default:
      return error.subcode == heif_suberror_End_of_data ? FIC_TRUNCATED : FIC_DAMAGED;
  }
}

enum { PROFILE_LIMIT = 4 << 20 };

static void fill_profile(
    fic_heif_reader *reader, const struct heif_image_handle *handle, fic_heif_header *header) {
  size_t count = heif_image_handle_get_raw_color_profile_size(handle);
  if (count == 0 || count > PROFILE_LIMIT) return;
  reader->profile = malloc(count);
  if (!reader->profile) return;
  bool works = heif_image_handle_get_raw_color_profile(handle, reader->profile).code == heif_error_Ok;
  header->profile = works ? reader->profile : NULL;
  header->profile_count = works ? count : 0;
}

static void fill_coded_colors(const struct heif_image_handle *handle, fic_heif_header *header) {
  struct heif_color_profile_nclx *colors = NULL;
  if (heif_image_handle_get_nclx_color_profile(handle, &colors).code != heif_error_Ok || !colors)
    return;
  header->primaries = (uint16_t)colors->color_primaries;
  header->transfer = (uint16_t)colors->transfer_characteristics;
  heif_nclx_color_profile_free(colors);
}

static fic_status fill_header(
    fic_heif_reader *reader, const struct heif_image_handle *handle, heif_item_id item,
    fic_heif_header *header) {
  int width = heif_image_handle_get_width(handle), height = heif_image_handle_get_height(handle);
  int coded_width = heif_image_handle_get_ispe_width(handle);
  int coded_height = heif_image_handle_get_ispe_height(handle);
  if (width < 1 || height < 1 || coded_width < 1 || coded_height < 1) return FIC_DAMAGED;
  header->width = (uint32_t)width;
  header->height = (uint32_t)height;
  header->coded_width = (uint32_t)coded_width;
  header->coded_height = (uint32_t)coded_height;
  header->item = item;
  header->has_alpha = reader->has_alpha = heif_image_handle_has_alpha_channel(handle) != 0;
  reader->is_premultiplied = heif_image_handle_is_premultiplied_alpha(handle) != 0;
  fill_coded_colors(handle, header);
  fill_profile(reader, handle, header);
  return FIC_OK;
}

fic_status fic_heif_read_header(
    fic_heif_reader *reader, const uint8_t *bytes, size_t count, fic_heif_header *header) {
  memset(header, 0, sizeof *header);
  if (!begin_context()) return FIC_CANCELLED;
  reader->context = heif_context_alloc();
  if (!reader->context) {
    end_context();
    return FIC_OUT_OF_MEMORY;
  }
  heif_context_set_max_decoding_threads(reader->context, 0);
  fic_status status = status_of(
      reader, heif_context_read_from_memory_without_copy(reader->context, bytes, count, NULL));
  if (status != FIC_OK) return status;
  heif_item_id item;
  status = status_of(
      reader, heif_context_get_primary_image_handle(reader->context, &reader->primary));
  if (status == FIC_OK)
    status = status_of(reader, heif_context_get_primary_image_ID(reader->context, &item));
  return status == FIC_OK ? fill_header(reader, reader->primary, item, header) : status;
}

fic_status fic_heif_decode(
    fic_heif_reader *reader, uint32_t side_limit, bool turns, uint32_t width, uint32_t height) {
  reader->width = width;
  reader->height = height;
  heif_context_set_maximum_image_size_limit(reader->context, (int)side_limit);
  struct heif_decoding_options *options = heif_decoding_options_alloc();
  if (!options) return FIC_OUT_OF_MEMORY;
  options->ignore_transformations = !turns;
  // Planes are what libheif has anyway: rows in another order would be one more copy.
  fic_status status = status_of(
      reader, heif_decode_image(
                  reader->primary, &reader->image, heif_colorspace_RGB, heif_chroma_444,
                  options));
  heif_decoding_options_free(options);
  if (status != FIC_OK) return status;
  // The image inside may contradict the container, which the limits were held against.
  return heif_image_get_primary_width(reader->image) == (int)reader->width &&
                 heif_image_get_primary_height(reader->image) == (int)reader->height
             ? FIC_OK
             : FIC_DAMAGED;
}

// Writes the numbers of one plane's row into every fourth byte.
static fic_status write_channel(
    const fic_heif_reader *reader, enum heif_channel channel, uint32_t row, uint8_t *target) {
  int stride = 0;
  const uint8_t *plane = heif_image_get_plane_readonly(reader->image, channel, &stride);
  int depth = heif_image_get_bits_per_pixel_range(reader->image, channel);
  if (!plane || depth < 8 || depth > 16 || stride < 0 ||
      heif_image_get_width(reader->image, channel) < (int)reader->width ||
      heif_image_get_height(reader->image, channel) < (int)reader->height)
    return FIC_DAMAGED;
  const uint8_t *source = plane + (size_t)row * (size_t)stride;
  if (depth == 8) {
    for (uint32_t x = 0; x < reader->width; x++) target[4 * x] = source[x];
    return FIC_OK;
  }
  // Two bytes each, in the order of the processor.
  uint32_t largest = (1u << depth) - 1;
  for (uint32_t x = 0; x < reader->width; x++) {
    uint16_t deep;
    memcpy(&deep, source + 2 * (size_t)x, 2);
    uint32_t value = deep < largest ? deep : largest;
    target[4 * x] = (uint8_t)((value * 255 + largest / 2) / largest);
  }
  return FIC_OK;
}

fic_status fic_heif_write_rows(
    fic_heif_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t first, uint32_t count) {
  static const enum heif_channel channels[4] = {
      heif_channel_B, heif_channel_G, heif_channel_R, heif_channel_Alpha};
  for (uint32_t y = 0; y < count; y++) {
    uint8_t *row = rows + y * row_bytes;
    for (uint32_t i = 0; i < (reader->has_alpha ? 4 : 3); i++) {
      fic_status status = write_channel(reader, channels[i], first + y, row + i);
      if (status != FIC_OK) return status;
    }
    if (!reader->has_alpha) {
      for (uint32_t x = 0; x < reader->width; x++) row[4 * x + 3] = 255;
    } else if (!reader->is_premultiplied) {
      fic_rows_premultiply(row, reader->width);
    }
  }
  return FIC_OK;
}

#endif
