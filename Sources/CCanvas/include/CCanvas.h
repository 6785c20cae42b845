// Cairo's functions for a canvas, from a library that is loaded when it is first used, for Linux.
//
// Launches that draw no closure need no Cairo, and the dynamic linker would spend a millisecond on it and
// the libraries below it in each. So nothing here links it: its header gives the types, and
// `fic_cairo_load` looks the functions up. A program that links Cairo itself shares its copy, and its
// functions take the objects that these make.
//
// Rules:
// 1. Every function but `fic_cairo_load` may be called only after a call of that has succeeded, whose
//    effects the calling thread has to see.
// 2. Each function does what Cairo's manual says of the same name without `fic_`.

#ifndef CCANVAS_H
#define CCANVAS_H

// A build without the package trait `Cairo` compiles this target too, maybe without Cairo's header.
#if defined(__linux__) && __has_include(<cairo/cairo.h>)
#define FIC_HAS_CAIRO 1

#include <stdbool.h>
#include <stddef.h>

#include <cairo/cairo.h>

/// Loads Cairo by its file's name, from any thread; a call that finds it loaded takes a lock.
///
/// Returns false after it has written into `reason` why the library cannot be used, as text of at most
/// `capacity` bytes with its zero. The next call tries again.
bool fic_cairo_load(const char *name, char *reason, size_t capacity);

#define FIC_EACH_CAIRO_FUNCTION(apply)                                                  \
  apply(create) apply(destroy) apply(status) apply(save) apply(restore)                 \
  apply(transform) apply(identity_matrix) apply(clip) apply(paint)                      \
  apply(paint_with_alpha) apply(fill) apply(stroke) apply(new_path) apply(move_to)      \
  apply(line_to) apply(curve_to) apply(close_path) apply(set_line_width)                \
  apply(set_operator) apply(set_source_rgba) apply(set_source_surface)                  \
  apply(get_source) apply(pattern_set_extend) apply(pattern_set_filter)                 \
  apply(image_surface_create_for_data) apply(surface_destroy) apply(surface_flush)      \
  apply(surface_set_user_data) apply(surface_status) apply(status_to_string)

#define FIC_MEMBER(name) __typeof__(cairo_##name) *name;

/// Written under a lock by the load that succeeds, and only read afterwards. The types come from Cairo's
/// header, so that a call is checked as if the library were linked.
extern struct fic_cairo_functions {
  FIC_EACH_CAIRO_FUNCTION(FIC_MEMBER)
} fic_cairo;

// Contexts.

static inline cairo_t *fic_cairo_create(cairo_surface_t *target) {
  return fic_cairo.create(target);
}
static inline void fic_cairo_destroy(cairo_t *context) { fic_cairo.destroy(context); }
static inline cairo_status_t fic_cairo_status(cairo_t *context) {
  return fic_cairo.status(context);
}
static inline void fic_cairo_save(cairo_t *context) { fic_cairo.save(context); }
static inline void fic_cairo_restore(cairo_t *context) { fic_cairo.restore(context); }
static inline void fic_cairo_transform(cairo_t *context, const cairo_matrix_t *matrix) {
  fic_cairo.transform(context, matrix);
}
static inline void fic_cairo_identity_matrix(cairo_t *context) {
  fic_cairo.identity_matrix(context);
}
static inline void fic_cairo_clip(cairo_t *context) { fic_cairo.clip(context); }
static inline void fic_cairo_paint(cairo_t *context) { fic_cairo.paint(context); }
static inline void fic_cairo_paint_with_alpha(cairo_t *context, double alpha) {
  fic_cairo.paint_with_alpha(context, alpha);
}
static inline void fic_cairo_fill(cairo_t *context) { fic_cairo.fill(context); }
static inline void fic_cairo_stroke(cairo_t *context) { fic_cairo.stroke(context); }

// Paths.

static inline void fic_cairo_new_path(cairo_t *context) { fic_cairo.new_path(context); }
static inline void fic_cairo_move_to(cairo_t *context, double x, double y) {
  fic_cairo.move_to(context, x, y);
}
static inline void fic_cairo_line_to(cairo_t *context, double x, double y) {
  fic_cairo.line_to(context, x, y);
}
static inline void fic_cairo_curve_to(
    cairo_t *context, double x1, double y1, double x2, double y2, double x3, double y3) {
  fic_cairo.curve_to(context, x1, y1, x2, y2, x3, y3);
}
static inline void fic_cairo_close_path(cairo_t *context) { fic_cairo.close_path(context); }

// State of a context.

static inline void fic_cairo_set_line_width(cairo_t *context, double width) {
  fic_cairo.set_line_width(context, width);
}
static inline void fic_cairo_set_operator(cairo_t *context, cairo_operator_t mode) {
  fic_cairo.set_operator(context, mode);
}
static inline void fic_cairo_set_source_rgba(
    cairo_t *context, double red, double green, double blue, double alpha) {
  fic_cairo.set_source_rgba(context, red, green, blue, alpha);
}
static inline void fic_cairo_set_source_surface(
    cairo_t *context, cairo_surface_t *surface, double x, double y) {
  fic_cairo.set_source_surface(context, surface, x, y);
}
static inline cairo_pattern_t *fic_cairo_get_source(cairo_t *context) {
  return fic_cairo.get_source(context);
}

// Patterns and surfaces.

static inline void fic_cairo_pattern_set_extend(cairo_pattern_t *pattern, cairo_extend_t extend) {
  fic_cairo.pattern_set_extend(pattern, extend);
}
static inline void fic_cairo_pattern_set_filter(cairo_pattern_t *pattern, cairo_filter_t filter) {
  fic_cairo.pattern_set_filter(pattern, filter);
}
static inline cairo_surface_t *fic_cairo_image_surface_create_for_data(
    unsigned char *data, cairo_format_t format, int width, int height, int stride) {
  return fic_cairo.image_surface_create_for_data(data, format, width, height, stride);
}
static inline void fic_cairo_surface_destroy(cairo_surface_t *surface) {
  fic_cairo.surface_destroy(surface);
}
static inline void fic_cairo_surface_flush(cairo_surface_t *surface) {
  fic_cairo.surface_flush(surface);
}
static inline cairo_status_t fic_cairo_surface_set_user_data(
    cairo_surface_t *surface, const cairo_user_data_key_t *key, void *user_data, cairo_destroy_func_t destroy) {
  return fic_cairo.surface_set_user_data(surface, key, user_data, destroy);
}
static inline cairo_status_t fic_cairo_surface_status(cairo_surface_t *surface) {
  return fic_cairo.surface_status(surface);
}
static inline const char *fic_cairo_status_to_string(cairo_status_t status) {
  return fic_cairo.status_to_string(status);
}

#endif
#endif
