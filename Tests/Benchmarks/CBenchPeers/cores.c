#if defined(__linux__)

// For CPU_SET(3), which is not in any standard.
#define _GNU_SOURCE

#include "CBenchPeers.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

// A mask holds for one thread; threads that it creates later inherit it.

int bench_use_cores(int count) {
  // The cores at the first call: the process may have been started on some of them only.
  static cpu_set_t allowed;
  if (CPU_COUNT(&allowed) == 0 && sched_getaffinity(0, sizeof allowed, &allowed) != 0) return errno;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&chosen) < count; core++) {
    if (CPU_ISSET(core, &allowed)) CPU_SET(core, &chosen);
  }
  DIR *threads = opendir("/proc/self/task");
  if (!threads) return errno;
  int result = 0;
  for (struct dirent *entry; (entry = readdir(threads));) {
    pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
    // A thread may have ended since.
    if (thread > 0 && sched_setaffinity(thread, sizeof chosen, &chosen) != 0 && errno != ESRCH) {
      result = errno;
    }
  }
  closedir(threads);
  return result;
}

#else

#include "CBenchPeers.h"

#include <errno.h>

int bench_use_cores(int count) {
  (void)count;
  return ENOTSUP;
}

#endif
