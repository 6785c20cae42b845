#if defined(__linux__) && defined(FIC_PIXBUF)

#include "CImageCodecs.h"
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// gdk-pixbuf's and GLib's, whose binary interfaces are fixed.
typedef struct { uint32_t domain; int code; char *message; } g_error;

enum { INSUFFICIENT_MEMORY = 1 };   // of GdkPixbufError

#define EACH_FUNCTION(apply)                                                                            \
  apply(void *, gdk_pixbuf_loader_new_with_type, (const char *, g_error **))                            \
  apply(int, gdk_pixbuf_loader_write, (void *, const uint8_t *, size_t, g_error **))                    \
  apply(int, gdk_pixbuf_loader_close, (void *, g_error **))                                             \
  apply(void, gdk_pixbuf_loader_set_size, (void *, int, int))                                           \
  apply(void *, gdk_pixbuf_loader_get_pixbuf, (void *)) apply(int, gdk_pixbuf_get_width, (void *))      \
  apply(int, gdk_pixbuf_get_height, (void *)) apply(int, gdk_pixbuf_get_rowstride, (void *))            \
  apply(int, gdk_pixbuf_get_n_channels, (void *)) apply(int, gdk_pixbuf_get_bits_per_sample, (void *))  \
  apply(const uint8_t *, gdk_pixbuf_read_pixels, (void *)) apply(uint32_t, gdk_pixbuf_error_quark, (void)) \
  apply(unsigned long, g_signal_connect_data, (void *, const char *, void (*)(void), void *, void *, int)) \
  apply(void, g_object_unref, (void *)) apply(void, g_error_free, (g_error *))

// Functions of gdk-pixbuf 2.32.
FIC_LIBRARY("libgdk_pixbuf-2.0.so.0", EACH_FUNCTION);

struct fic_pixbuf_reader {
  void *loader;
  bool is_closed;
  uint32_t width, height;
  void *pixbuf;   // the loader's
  char message[256];
};

fic_pixbuf_reader *fic_pixbuf_reader_create(void) { return calloc(1, sizeof(fic_pixbuf_reader)); }

void fic_pixbuf_reader_close(fic_pixbuf_reader *reader) {
  if (!reader) return;
  if (reader->loader) {
    // A loader has to be closed, and one of TIFF would decode then what it has: no image has this size.
    reader->width = 0;
    if (!reader->is_closed) functions.gdk_pixbuf_loader_close(reader->loader, NULL);
    functions.g_object_unref(reader->loader);
  }
  free(reader);
}

const char *fic_pixbuf_reader_message(const fic_pixbuf_reader *reader) { return reader->message; }

static fic_status failed(fic_pixbuf_reader *reader, g_error *error, fic_status status) {
  if (!error) return status;
  snprintf(reader->message, sizeof reader->message, "%s", error->message);
  if (error->domain == functions.gdk_pixbuf_error_quark() && error->code == INSUFFICIENT_MEMORY)
    status = FIC_OUT_OF_MEMORY;
  functions.g_error_free(error);
  return status;
}

// Loaders ask before they take memory for pixels, and give up where the answer is no pixels.
static void size_prepared(void *loader, int width, int height, void *data) {
  const fic_pixbuf_reader *reader = data;
  if (width < 0 || height < 0 || (uint32_t)width != reader->width || (uint32_t)height != reader->height)
    functions.gdk_pixbuf_loader_set_size(loader, 0, 0);
}

fic_status fic_pixbuf_begin(
    fic_pixbuf_reader *reader, const char *kind, uint32_t width, uint32_t height) {
  if (!fic_library_load(&library, reader->message, sizeof reader->message)) return FIC_UNSUPPORTED;
  reader->width = width;
  reader->height = height;
  g_error *error = NULL;
  reader->loader = functions.gdk_pixbuf_loader_new_with_type(kind, &error);
  if (!reader->loader) return failed(reader, error, FIC_UNSUPPORTED);
  functions.g_signal_connect_data(
      reader->loader, "size-prepared", (void (*)(void))size_prepared, reader, NULL, 0);
  return FIC_OK;
}

fic_status fic_pixbuf_write(fic_pixbuf_reader *reader, const uint8_t *bytes, size_t count) {
  g_error *error = NULL;
  if (functions.gdk_pixbuf_loader_write(reader->loader, bytes, count, &error)) return FIC_OK;
  // The loader has closed itself.
  reader->is_closed = true;
  return failed(reader, error, FIC_DAMAGED);
}

fic_status fic_pixbuf_end(fic_pixbuf_reader *reader) {
  g_error *error = NULL;
  reader->is_closed = true;
  if (!functions.gdk_pixbuf_loader_close(reader->loader, &error))
    return failed(reader, error, FIC_DAMAGED);
  void *pixbuf = functions.gdk_pixbuf_loader_get_pixbuf(reader->loader);
  if (!pixbuf) return FIC_TRUNCATED;
  int channels = functions.gdk_pixbuf_get_n_channels(pixbuf);
  if ((uint32_t)functions.gdk_pixbuf_get_width(pixbuf) != reader->width ||
      (uint32_t)functions.gdk_pixbuf_get_height(pixbuf) != reader->height ||
      functions.gdk_pixbuf_get_bits_per_sample(pixbuf) != 8 || (channels != 3 && channels != 4))
    return FIC_DAMAGED;
  reader->pixbuf = pixbuf;
  return FIC_OK;
}

void fic_pixbuf_read_rows(
    const fic_pixbuf_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t first, uint32_t count,
    fic_pixbuf_alpha alpha) {
  size_t stride = (size_t)functions.gdk_pixbuf_get_rowstride(reader->pixbuf);
  size_t channels = (size_t)functions.gdk_pixbuf_get_n_channels(reader->pixbuf);
  const uint8_t *pixels = functions.gdk_pixbuf_read_pixels(reader->pixbuf);
  for (uint32_t y = 0; y < count; y++) {
    const uint8_t *source = pixels + (first + y) * stride;
    uint8_t *row = rows + y * row_bytes;
    for (size_t x = 0; x < reader->width; x++, source += channels) {
      uint8_t opacity = channels == 4 && alpha != FIC_PIXBUF_OPAQUE ? source[3] : 255;
      for (size_t c = 0; c < 3; c++) {
        uint8_t color = source[2 - c];
        // A file may have more colour than alpha.
        row[4 * x + c] = alpha == FIC_PIXBUF_MULTIPLIED && color > opacity ? opacity : color;
      }
      row[4 * x + 3] = opacity;
    }
    if (alpha == FIC_PIXBUF_SEPARATE) fic_rows_premultiply(row, reader->width);
  }
}

#endif
