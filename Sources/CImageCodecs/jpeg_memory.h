#ifndef FIC_JPEG_MEMORY_H
#define FIC_JPEG_MEMORY_H

#include <stdio.h>

#include <jpeglib.h>

// The coefficients of a whole picture, which files of several scans need: 54 MB for one of 18
// megapixels.
//
// libjpeg takes them from malloc(3) and writes zeros over them, page by page as each is mapped: half of
// the time that a thumbnail takes. These come as zeros, in large pages where the system has them.
typedef struct {
  struct jvirt_barray_control *first;
  void *memory;
  size_t byte_count;
  void (*realize_others)(j_common_ptr);
} fic_jpeg_arrays;

// Has a codec that was just made take its coefficients from here. `arrays` stays where it is until
// they are released, which is after the codec was destroyed.
void fic_jpeg_arrays_install(fic_jpeg_arrays *arrays, struct jpeg_decompress_struct *codec);
void fic_jpeg_arrays_release(fic_jpeg_arrays *arrays);

// Where the arrays of a codec are; whoever owns them defines it.
fic_jpeg_arrays *fic_jpeg_arrays_of(j_common_ptr codec);

#endif
