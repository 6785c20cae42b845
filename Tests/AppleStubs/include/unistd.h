#pragma once

#include <sys/types.h>

int close(int);
int pipe(int[2]);
ssize_t write(int, const void *, size_t);
#if !defined(_POSIX_C_SOURCE) || defined(_DARWIN_C_SOURCE)
int getpagesize(void) __attribute__((const));
#endif
