#ifdef __linux__

// For mincore(2) and syscall(2).
#define _GNU_SOURCE

#include "CMappedFiles.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// cachestat(2), of kernels from 6.5 on, which older headers lack.
#define CACHESTAT 451

struct range { uint64_t offset, length; };
struct counts { uint64_t cached, dirty, written_back, evicted, recently_evicted; };

fic_page_counts fic_count_pages(int descriptor, const void *mapping, size_t length) {
  fic_page_counts found = {-1, -1};
  struct range all = {0, 0};
  struct counts counts;
  if (syscall(CACHESTAT, descriptor, &all, &counts, 0) == 0) {
    found.resident = (int64_t)counts.cached;
    found.dirty = (int64_t)(counts.dirty + counts.written_back);
    return found;
  }
  // Older kernels tell of mapped files which pages are there, and not which are dirty.
  if (mapping == NULL) return found;
  const size_t page = (size_t)getpagesize(), part = 4096;
  unsigned char vector[4096];
  int64_t resident = 0;
  for (size_t start = 0; start < length; start += part * page) {
    size_t bytes = length - start < part * page ? length - start : part * page;
    if (mincore((char *)mapping + start, bytes, vector) != 0) return found;
    for (size_t i = 0; i < (bytes + page - 1) / page; i++) resident += vector[i] & 1;
  }
  found.resident = resident;
  return found;
}

#endif
