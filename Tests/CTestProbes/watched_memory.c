#include "CTestProbes.h"

#if defined(__linux__)

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if __has_feature(address_sanitizer)

#include <sanitizer/asan_interface.h>

int probe_watches_memory(void) { return 1; }
int probe_may_touch(const void *address) { return !__asan_address_is_poisoned(address); }

#else

int probe_watches_memory(void) { return 0; }
int probe_may_touch(const void *address) { return (void)address, 1; }

#endif
#endif
