#ifndef FIC_JPEG_COEFFICIENTS_H
#define FIC_JPEG_COEFFICIENTS_H

#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

// The largest number of components of a picture, as of libjpeg (jpeglib.h, MAX_COMPONENTS).
#define FIC_ARRAY_LIMIT MAX_COMPONENTS

typedef struct {
  void *start;
  size_t byte_count;
} fic_jpeg_memory;

// The coefficients of one picture of several scans, in memory of their own.
//
// libjpeg takes them from malloc(3) and fills them with zeros. glibc serves blocks below 32 MiB from
// an arena of the thread once one as large was freed (mallopt(3), M_MMAP_THRESHOLD), and an arena
// keeps twice that: a fling over progressive photographs left 300 MB that nothing used. A mapping
// is given back whole, and its pages are zero already.
//
// Zero-initialised, and then in this order: fic_jpeg_own_coefficients, all work of the codec,
// jpeg_destroy_decompress, fic_jpeg_free_coefficients.
typedef struct {
  struct jvirt_barray_control *arrays[FIC_ARRAY_LIMIT];
  int count;
  fic_jpeg_memory memory;
  void (*realize_others)(j_common_ptr codec);
} fic_jpeg_coefficients;

// Has a codec that was just created keep its coefficients in `coefficients`, which has to outlive it.
// The codec's memory limit holds for them as for memory of libjpeg's own.
void fic_jpeg_own_coefficients(
    struct jpeg_decompress_struct *codec, fic_jpeg_coefficients *coefficients);

// The coefficients that a codec was given.
fic_jpeg_coefficients *fic_jpeg_coefficients_of(const struct jpeg_decompress_struct *codec);

// Gives the memory back. For coefficients whose codec was destroyed.
void fic_jpeg_free_coefficients(fic_jpeg_coefficients *coefficients);

#endif
