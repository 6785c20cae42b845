#ifndef FIC_JPEG_READER_H
#define FIC_JPEG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

// True when the scans that are complete settle an image of one pixel a block of brightness to within
// one level of brightness and about one of each colour difference.
bool fic_jpeg_pixels_are_known(const struct jpeg_decompress_struct *codec);

// True when the scans that are complete have brought every component to its last bit.
bool fic_jpeg_is_complete(const struct jpeg_decompress_struct *codec);

// True when the file goes on, scan after scan, to its end marker; looks at markers only, and changes
// nothing. For a codec that has just completed a scan and reads from memory.
bool fic_jpeg_rest_is_whole(const struct jpeg_decompress_struct *codec);

// The coefficients of one image of several scans, in memory that the caller lends.
//
// libjpeg takes them from malloc(3). glibc serves blocks below 32 MiB from an arena of the thread once
// one as large was freed (mallopt(3), M_MMAP_THRESHOLD), and an arena keeps twice that: a fling over
// progressive photographs left 200 MB that nothing used.
//
// Zero-initialised, and then in this order: fic_jpeg_own_coefficients, start and byte_count set,
// jpeg_start_decompress and all other work, jpeg_destroy_decompress.
typedef struct {
  void *start;
  size_t byte_count;
  struct jvirt_barray_control *arrays[MAX_COMPONENTS];
  int count;
  void (*realize_others)(j_common_ptr codec);
} fic_jpeg_coefficients;

// Has a codec that was just created keep its coefficients in the memory of `coefficients`.
void fic_jpeg_own_coefficients(struct jpeg_decompress_struct *codec);

// The coefficients that belong to a codec; its reader knows them.
fic_jpeg_coefficients *fic_jpeg_coefficients_of(const struct jpeg_decompress_struct *codec);

#endif
