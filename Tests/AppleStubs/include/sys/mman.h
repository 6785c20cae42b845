#pragma once

#include <sys/types.h>

#define PROT_READ 0x01
#define PROT_WRITE 0x02
#define MAP_PRIVATE 0x0002
#define MAP_FIXED 0x0010
#define MAP_FAILED ((void *)-1)
#if !defined(_POSIX_C_SOURCE) || defined(_DARWIN_C_SOURCE)
#define MAP_ANON 0x1000
#endif

#define MINCORE_INCORE 0x1
#define MINCORE_MODIFIED 0x4
#define MINCORE_MODIFIED_OTHER 0x10

void *mmap(void *, size_t, int, int, int, off_t);
int mincore(const void *, size_t, char *);
