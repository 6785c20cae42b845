#include "CTestProbes.h"

#if defined(__linux__)

#define _GNU_SOURCE
#include <sched.h>

int probe_bind_to_first_core(void) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return -1;
  int first = 0;
  while (first < CPU_SETSIZE && !CPU_ISSET(first, &cores)) ++first;
  CPU_ZERO(&cores);
  CPU_SET(first, &cores);
  return sched_setaffinity(0, sizeof cores, &cores);
}

#endif
