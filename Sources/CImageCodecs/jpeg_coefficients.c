#if defined(__linux__)

#include "jpeg_coefficients.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <jerror.h>

#include "CImageCodecs.h"

// As many bytes as the coefficients of 20 megapixels take, whose colours have half the resolution.
#define KEPT_LIMIT ((size_t)64 << 20)

// One component's blocks. jpeglib.h leaves the type to the memory manager, which this file is.
struct jvirt_barray_control {
  JBLOCKARRAY rows;
  JDIMENSION blocks_per_row;
  JDIMENSION row_count;
  JDIMENSION longest_access;
};

static fic_jpeg_coefficients *coefficients_of(j_common_ptr codec) {
  return fic_jpeg_coefficients_of((j_decompress_ptr)codec);
}

// The address sanitizer sees accesses out of bounds in blocks of malloc, and none in a mapping.
#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
static fic_jpeg_memory zeroed_memory(size_t byte_count) {
  return (fic_jpeg_memory){calloc(1, byte_count), byte_count};
}
static void free_memory(fic_jpeg_memory memory) { free(memory.start); }
#else
// The mapping that the next picture takes over: with new pages each time, 18 megapixels took twice as
// long. MADV_FREE lets the system take its pages back as soon as it is short of memory.
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static fic_jpeg_memory kept;

static fic_jpeg_memory zeroed_memory(size_t byte_count) {
  fic_jpeg_memory memory = {0};
  pthread_mutex_lock(&kept_lock);
  if (kept.byte_count >= byte_count) {
    memory = kept;
    kept = (fic_jpeg_memory){0};
  }
  pthread_mutex_unlock(&kept_lock);
  if (memory.start) {
    memset(memory.start, 0, byte_count);
    return memory;
  }
  void *start =
      mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? memory : (fic_jpeg_memory){start, byte_count};
}

static void free_memory(fic_jpeg_memory memory) {
  if (memory.byte_count <= KEPT_LIMIT) {
    madvise(memory.start, memory.byte_count, MADV_FREE);
    pthread_mutex_lock(&kept_lock);
    if (memory.byte_count > kept.byte_count) {
      fic_jpeg_memory smaller = kept;
      kept = memory;
      memory = smaller;
    }
    pthread_mutex_unlock(&kept_lock);
  }
  if (memory.start) munmap(memory.start, memory.byte_count);
}
#endif

static jvirt_barray_ptr request(
    j_common_ptr codec, int pool, boolean zeroed, JDIMENSION blocks_per_row, JDIMENSION row_count,
    JDIMENSION longest_access) {
  (void)zeroed;  // All are.
  fic_jpeg_coefficients *coefficients = coefficients_of(codec);
  if (coefficients->count == FIC_ARRAY_LIMIT || coefficients->memory.start)
    ERREXIT1(codec, JERR_COMPONENT_COUNT, coefficients->count);
  jvirt_barray_ptr array = codec->mem->alloc_small(codec, pool, sizeof *array);
  *array = (struct jvirt_barray_control){
      .blocks_per_row = blocks_per_row, .row_count = row_count, .longest_access = longest_access};
  coefficients->arrays[coefficients->count++] = array;
  return array;
}

// One mapping for the blocks of all components, and behind them the addresses of their rows.
static void realize(j_common_ptr codec) {
  fic_jpeg_coefficients *coefficients = coefficients_of(codec);
  coefficients->realize_others(codec);
  if (coefficients->count == 0 || coefficients->memory.start) return;

  // Sides of a JPEG picture are below 65 536 and components below 11, so neither sum overflows.
  size_t block_bytes = 0, address_bytes = 0;
  for (int i = 0; i < coefficients->count; i++) {
    const struct jvirt_barray_control *array = coefficients->arrays[i];
    block_bytes += (size_t)array->blocks_per_row * array->row_count * sizeof(JBLOCK);
    address_bytes += array->row_count * sizeof(JBLOCKROW);
  }
  long limit = codec->mem->max_memory_to_use;
  if (limit > 0 && block_bytes > (size_t)limit) ERREXIT(codec, JERR_NO_BACKING_STORE);
  coefficients->memory = zeroed_memory(block_bytes + address_bytes);
  if (!coefficients->memory.start) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);

  JBLOCKROW block = coefficients->memory.start;
  JBLOCKARRAY row = (JBLOCKARRAY)((char *)coefficients->memory.start + block_bytes);
  for (int i = 0; i < coefficients->count; i++) {
    struct jvirt_barray_control *array = coefficients->arrays[i];
    array->rows = row;
    for (JDIMENSION y = 0; y < array->row_count; y++, block += array->blocks_per_row) *row++ = block;
  }
}

static JBLOCKARRAY access_rows(
    j_common_ptr codec, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count,
    boolean writable) {
  (void)writable;  // Rows that nothing has written are zeros.
  if (!array->rows || count > array->longest_access || count > array->row_count ||
      first > array->row_count - count)
    ERREXIT(codec, JERR_BAD_VIRTUAL_ACCESS);
  return array->rows + first;
}

void fic_jpeg_own_coefficients(
    struct jpeg_decompress_struct *codec, fic_jpeg_coefficients *coefficients) {
  coefficients->realize_others = codec->mem->realize_virt_arrays;
  codec->mem->request_virt_barray = request;
  codec->mem->realize_virt_arrays = realize;
  codec->mem->access_virt_barray = access_rows;
}

void fic_jpeg_free_coefficients(fic_jpeg_coefficients *coefficients) {
  if (coefficients->memory.start) free_memory(coefficients->memory);
}

#endif
