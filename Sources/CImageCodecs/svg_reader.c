#if defined(__linux__) && defined(FIC_SVG)

#include "CImageCodecs.h"

#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// librsvg's, GLib's and cairo's, whose binary interfaces are fixed.
typedef struct { uint32_t domain; int code; char *message; } g_error;
typedef struct { double x, y, width, height; } rectangle;
typedef struct { double length; int unit; } svg_length;

enum { CAIRO_ARGB32 = 0, PIXELS_PER_INCH = 96 };

#define EACH_FUNCTION(apply)                                                                      \
  apply(void *, rsvg_handle_new_from_data, (const uint8_t *, size_t, g_error **))                 \
  apply(int, rsvg_handle_get_intrinsic_size_in_pixels, (void *, double *, double *))              \
  apply(void, rsvg_handle_get_intrinsic_dimensions,                                               \
        (void *, int *, svg_length *, int *, svg_length *, int *, rectangle *))                   \
  apply(void, rsvg_handle_set_dpi, (void *, double))                                              \
  apply(int, rsvg_handle_render_document, (void *, void *, const rectangle *, g_error **))        \
  apply(void, g_object_unref, (void *)) apply(void, g_error_free, (g_error *))                    \
  apply(void *, cairo_image_surface_create_for_data, (uint8_t *, int, int, int, int))             \
  apply(void *, cairo_create, (void *)) apply(int, cairo_status, (void *))                        \
  apply(void, cairo_destroy, (void *)) apply(void, cairo_surface_finish, (void *))                \
  apply(void, cairo_surface_destroy, (void *))

// The name since librsvg 2.14; functions of 2.52.
FIC_LIBRARY("librsvg-2.so.2", EACH_FUNCTION);

struct fic_svg_reader {
  void *handle;
  char message[256];
};

fic_svg_reader *fic_svg_reader_create(void) { return calloc(1, sizeof(fic_svg_reader)); }

void fic_svg_reader_close(fic_svg_reader *reader) {
  if (!reader) return;
  if (reader->handle) functions.g_object_unref(reader->handle);
  free(reader);
}

const char *fic_svg_reader_message(const fic_svg_reader *reader) { return reader->message; }

static fic_status damaged(fic_svg_reader *reader, g_error *error) {
  snprintf(reader->message, sizeof reader->message, "%s", error ? error->message : "no reason");
  // The words end with the sentence of which they are a part.
  size_t length = strlen(reader->message);
  while (length > 0 && strchr(".\n", reader->message[length - 1])) reader->message[--length] = 0;
  if (error) functions.g_error_free(error);
  return FIC_DAMAGED;
}

fic_status fic_svg_read_header(
    fic_svg_reader *reader, const uint8_t *bytes, size_t count, double *width, double *height) {
  if (!fic_library_load(&library, reader->message, sizeof reader->message)) return FIC_UNSUPPORTED;

  g_error *error = NULL;
  // An image without an address of its own gets no other file and no server, but `data:` addresses always:
  // SVGMarkup refuses those before.
  reader->handle = functions.rsvg_handle_new_from_data(bytes, count, &error);
  if (!reader->handle) return damaged(reader, error);
  functions.rsvg_handle_set_dpi(reader->handle, PIXELS_PER_INCH);
  if (functions.rsvg_handle_get_intrinsic_size_in_pixels(reader->handle, width, height)) return FIC_OK;
  int has_width = 0, has_height = 0, has_box = 0;
  svg_length ignored;
  rectangle box = {0};
  functions.rsvg_handle_get_intrinsic_dimensions(
      reader->handle, &has_width, &ignored, &has_height, &ignored, &has_box, &box);
  *width = has_box ? box.width : 1;
  *height = has_box ? box.height : 1;
  return FIC_OK;
}

fic_status fic_svg_draw(
    fic_svg_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t width, uint32_t height) {
  memset(rows, 0, row_bytes * height);
  void *surface = functions.cairo_image_surface_create_for_data(
      rows, CAIRO_ARGB32, (int)width, (int)height, (int)row_bytes);
  void *canvas = functions.cairo_create(surface);
  fic_status status = functions.cairo_status(canvas) == 0 ? FIC_OK : FIC_OUT_OF_MEMORY;
  g_error *error = NULL;
  rectangle viewport = {0, 0, width, height};
  if (status == FIC_OK &&
      !functions.rsvg_handle_render_document(reader->handle, canvas, &viewport, &error))
    status = damaged(reader, error);
  functions.cairo_destroy(canvas);
  // Nothing may write to the rows afterwards.
  functions.cairo_surface_finish(surface);
  functions.cairo_surface_destroy(surface);
  return status;
}

#endif
