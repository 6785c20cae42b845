#ifdef __APPLE__

#include "CMappedFiles.h"

#include <sys/mman.h>
#include <unistd.h>

fic_page_counts fic_count_pages(int descriptor, const void *mapping, size_t length) {
  fic_page_counts found = {-1, -1};
  if (mapping == NULL) return found;
  const size_t page = (size_t)getpagesize(), part = 4096;
  char vector[4096];
  int64_t resident = 0, dirty = 0;
  for (size_t start = 0; start < length; start += part * page) {
    size_t bytes = length - start < part * page ? length - start : part * page;
    if (mincore((const char *)mapping + start, bytes, vector) != 0) return found;
    for (size_t i = 0; i < (bytes + page - 1) / page; i++) {
      if (vector[i] & MINCORE_INCORE) resident++;
      if (vector[i] & (MINCORE_MODIFIED | MINCORE_MODIFIED_OTHER)) dirty++;
    }
  }
  found.resident = resident;
  found.dirty = dirty;
  return found;
}

#endif
