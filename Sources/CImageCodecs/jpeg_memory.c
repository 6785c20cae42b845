#if defined(__linux__)

#include "jpeg_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include <jerror.h>

// libjpeg knows only the name of this structure (jpeglib.h) and leaves it to who implements it.
struct jvirt_barray_control {
  struct jvirt_barray_control *next;
  // Addresses of the rows; null until there is memory for them.
  JBLOCKARRAY rows;
  JDIMENSION row_count, blocks_per_row, rows_at_once;
};

typedef struct jvirt_barray_control array;

static jvirt_barray_ptr request(
    j_common_ptr codec, int pool, boolean zeroed, JDIMENSION blocks_per_row, JDIMENSION row_count,
    JDIMENSION rows_at_once) {
  (void)zeroed;  // All are.
  if (pool != JPOOL_IMAGE) ERREXIT1(codec, JERR_BAD_POOL_ID, pool);
  fic_jpeg_arrays *arrays = fic_jpeg_arrays_of(codec);
  array *new = codec->mem->alloc_small(codec, JPOOL_IMAGE, sizeof *new);
  *new = (array){arrays->first, NULL, row_count, blocks_per_row, rows_at_once};
  return arrays->first = new;
}

static void give_rows(j_common_ptr codec, array *some, JBLOCKROW memory) {
  some->rows = codec->mem->alloc_large(codec, JPOOL_IMAGE, some->row_count * sizeof *some->rows);
  for (JDIMENSION row = 0; row < some->row_count; row++)
    some->rows[row] = memory + (size_t)row * some->blocks_per_row;
}

static void realize(j_common_ptr codec) {
  fic_jpeg_arrays *arrays = fic_jpeg_arrays_of(codec);
  // Sides have 16 bits, so the products fit.
  uint64_t block_count = 0;
  for (const array *next = arrays->first; next; next = next->next)
    if (!next->rows) block_count += (uint64_t)next->row_count * next->blocks_per_row;
  if (block_count > 0) {
    uint64_t byte_count = block_count * sizeof(JBLOCK);
    // As libjpeg itself, which would go on in a file.
    if (byte_count > (uint64_t)codec->mem->max_memory_to_use)
      ERREXIT(codec, JERR_NO_BACKING_STORE);
    // Once for each picture, by jpeg_start_decompress.
    if (arrays->memory) ERREXIT(codec, JERR_BAD_VIRTUAL_ACCESS);
    void *memory = mmap(
        NULL, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
    // A wish; small pages do as well.
    madvise(memory, byte_count, MADV_HUGEPAGE);
    arrays->memory = memory;
    arrays->byte_count = byte_count;
    JBLOCKROW rest = memory;
    for (array *next = arrays->first; next; next = next->next) {
      if (next->rows) continue;
      give_rows(codec, next, rest);
      rest += (size_t)next->row_count * next->blocks_per_row;
    }
  }
  arrays->realize_others(codec);
}

static JBLOCKARRAY access_rows(
    j_common_ptr codec, jvirt_barray_ptr some, JDIMENSION start, JDIMENSION count,
    boolean for_writing) {
  (void)for_writing;
  if (!some->rows || count > some->rows_at_once || count > some->row_count ||
      start > some->row_count - count)
    ERREXIT(codec, JERR_BAD_VIRTUAL_ACCESS);
  return some->rows + start;
}

void fic_jpeg_arrays_install(fic_jpeg_arrays *arrays, struct jpeg_decompress_struct *codec) {
  struct jpeg_memory_mgr *manager = codec->mem;
  *arrays = (fic_jpeg_arrays){.realize_others = manager->realize_virt_arrays};
  manager->request_virt_barray = request;
  manager->realize_virt_arrays = realize;
  manager->access_virt_barray = access_rows;
}

void fic_jpeg_arrays_release(fic_jpeg_arrays *arrays) {
  if (arrays->memory) munmap(arrays->memory, arrays->byte_count);
  *arrays = (fic_jpeg_arrays){0};
}

#endif
