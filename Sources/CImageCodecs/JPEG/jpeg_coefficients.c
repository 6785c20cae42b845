#if defined(__linux__)

#include "jpeg_reader.h"

#include <string.h>

#include <jerror.h>

// One component's blocks. jpeglib.h leaves the type to the memory manager, which this file is.
struct jvirt_barray_control {
  JBLOCKARRAY rows;
  JDIMENSION blocks_per_row;
  JDIMENSION row_count;
  JDIMENSION longest_access;
  JDIMENSION zeroed_rows;  // What a progressive scan does not write is zero.
};

static fic_jpeg_coefficients *coefficients_of(j_common_ptr codec) {
  return fic_jpeg_coefficients_of((j_decompress_ptr)codec);
}

static jvirt_barray_ptr request(
    j_common_ptr codec, int pool, boolean zeroed, JDIMENSION blocks_per_row, JDIMENSION row_count,
    JDIMENSION longest_access) {
  (void)zeroed;  // All are.
  fic_jpeg_coefficients *coefficients = coefficients_of(codec);
  if (coefficients->count == MAX_COMPONENTS)
    ERREXIT2(codec, JERR_COMPONENT_COUNT, coefficients->count, MAX_COMPONENTS);
  jvirt_barray_ptr array = codec->mem->alloc_small(codec, pool, sizeof *array);
  *array = (struct jvirt_barray_control){
      .blocks_per_row = blocks_per_row, .row_count = row_count, .longest_access = longest_access};
  coefficients->arrays[coefficients->count++] = array;
  return array;
}

// Once for each image: rows get their places, one component behind the other.
static void realize(j_common_ptr codec) {
  fic_jpeg_coefficients *coefficients = coefficients_of(codec);
  coefficients->realize_others(codec);

  // Sides of a JPEG image are below 65 536 and components below 11, so the sum does not overflow.
  size_t block_bytes = 0;
  for (int i = 0; i < coefficients->count; i++) {
    const struct jvirt_barray_control *array = coefficients->arrays[i];
    block_bytes += (size_t)array->blocks_per_row * array->row_count * sizeof(JBLOCK);
  }
  if (block_bytes > coefficients->byte_count) ERREXIT(codec, JERR_NO_BACKING_STORE);

  JBLOCKROW block = coefficients->start;
  for (int i = 0; i < coefficients->count; i++) {
    struct jvirt_barray_control *array = coefficients->arrays[i];
    array->rows =
        codec->mem->alloc_large(codec, JPOOL_IMAGE, array->row_count * sizeof(JBLOCKROW));
    for (JDIMENSION y = 0; y < array->row_count; y++, block += array->blocks_per_row)
      array->rows[y] = block;
  }
}

static JBLOCKARRAY access_rows(
    j_common_ptr codec, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count,
    boolean writable) {
  (void)writable;
  if (!array->rows || count > array->longest_access || count > array->row_count ||
      first > array->row_count - count)
    ERREXIT(codec, JERR_BAD_VIRTUAL_ACCESS);
  // At their first access, as libjpeg does: a short file that announces a large image ends before.
  for (; array->zeroed_rows < first + count; array->zeroed_rows++)
    memset(array->rows[array->zeroed_rows], 0, array->blocks_per_row * sizeof(JBLOCK));
  return array->rows + first;
}

void fic_jpeg_own_coefficients(struct jpeg_decompress_struct *codec) {
  fic_jpeg_coefficients_of(codec)->realize_others = codec->mem->realize_virt_arrays;
  codec->mem->request_virt_barray = request;
  codec->mem->realize_virt_arrays = realize;
  codec->mem->access_virt_barray = access_rows;
}

#endif
