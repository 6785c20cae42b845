#if defined(__linux__) && defined(FIC_SVG)

#include "CImageCodecs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The name since librsvg 2.14; functions of 2.52.
#define LIBRARY "librsvg-2.so.2"

// librsvg's, GLib's and cairo's, whose binary interfaces are fixed. So neither their headers nor their dozens of
// libraries are needed where no SVG picture is drawn. dlsym(3) finds those of the libraries below, too.
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

#define MEMBER(result, name, parameters) result(*name) parameters;
// Written under `lock` by the load that succeeds, and only read afterwards.
static struct { EACH_FUNCTION(MEMBER) } svg;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded = false;

static const char *find_functions(void *library) {
#define FIND(result, name, parameters)                           \
  svg.name = (__typeof__(svg.name))dlsym(library, #name);        \
  if (!svg.name) return #name;
  EACH_FUNCTION(FIND)
  return NULL;
}

static bool load(char *reason, size_t capacity) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(reason, capacity, "%s", dlerror());
    return false;
  }
  const char *missing = find_functions(library);
  // GLib's types stay registered, so the library must stay, too.
  if (missing) snprintf(reason, capacity, "%s has no %s", LIBRARY, missing);
  return !missing;
}

struct fic_svg_reader {
  void *handle;
  char message[256];
};

fic_svg_reader *fic_svg_reader_create(void) { return calloc(1, sizeof(fic_svg_reader)); }

void fic_svg_reader_close(fic_svg_reader *reader) {
  if (!reader) return;
  if (reader->handle) svg.g_object_unref(reader->handle);
  free(reader);
}

const char *fic_svg_reader_message(const fic_svg_reader *reader) { return reader->message; }

static fic_status damaged(fic_svg_reader *reader, g_error *error) {
  snprintf(reader->message, sizeof reader->message, "%s", error ? error->message : "no reason");
  // The words end with the sentence of which they are a part.
  size_t length = strlen(reader->message);
  while (length > 0 && strchr(".\n", reader->message[length - 1])) reader->message[--length] = 0;
  if (error) svg.g_error_free(error);
  return FIC_DAMAGED;
}

fic_status fic_svg_read_header(
    fic_svg_reader *reader, const uint8_t *bytes, size_t count, double *width, double *height) {
  pthread_mutex_lock(&lock);
  if (!is_loaded) is_loaded = load(reader->message, sizeof reader->message);
  bool is_there = is_loaded;
  pthread_mutex_unlock(&lock);
  if (!is_there) return FIC_UNSUPPORTED;

  g_error *error = NULL;
  // A picture without an address of its own gets no other file and no server, but `data:` addresses always:
  // SVGMarkup refuses those before.
  reader->handle = svg.rsvg_handle_new_from_data(bytes, count, &error);
  if (!reader->handle) return damaged(reader, error);
  svg.rsvg_handle_set_dpi(reader->handle, PIXELS_PER_INCH);
  if (svg.rsvg_handle_get_intrinsic_size_in_pixels(reader->handle, width, height)) return FIC_OK;
  int has_width = 0, has_height = 0, has_box = 0;
  svg_length ignored;
  rectangle box = {0};
  svg.rsvg_handle_get_intrinsic_dimensions(
      reader->handle, &has_width, &ignored, &has_height, &ignored, &has_box, &box);
  *width = has_box ? box.width : 1;
  *height = has_box ? box.height : 1;
  return FIC_OK;
}

fic_status fic_svg_draw(
    fic_svg_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t width, uint32_t height) {
  memset(rows, 0, row_bytes * height);
  void *surface = svg.cairo_image_surface_create_for_data(
      rows, CAIRO_ARGB32, (int)width, (int)height, (int)row_bytes);
  void *canvas = svg.cairo_create(surface);
  fic_status status = svg.cairo_status(canvas) == 0 ? FIC_OK : FIC_OUT_OF_MEMORY;
  g_error *error = NULL;
  rectangle viewport = {0, 0, width, height};
  if (status == FIC_OK &&
      !svg.rsvg_handle_render_document(reader->handle, canvas, &viewport, &error))
    status = damaged(reader, error);
  svg.cairo_destroy(canvas);
  // Nothing may write to the rows afterwards.
  svg.cairo_surface_finish(surface);
  svg.cairo_surface_destroy(surface);
  return status;
}

#endif
