#include "CMemoryHints.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if __has_feature(address_sanitizer)

#include <sanitizer/asan_interface.h>

void fic_forbid(const void *start, size_t count) { __asan_poison_memory_region(start, count); }

void fic_permit(const void *start, size_t count) { __asan_unpoison_memory_region(start, count); }

#else

void fic_forbid(const void *start, size_t count) { (void)start, (void)count; }

void fic_permit(const void *start, size_t count) { (void)start, (void)count; }

#endif
