#if defined(__linux__)

#include <stdlib.h>

// Few tests run at once, unless the command line or the environment names another number. Where nearly two thousand
// run on two cores, the busy ones keep each of the others waiting for minutes; time limits go on meanwhile, and libcurl
// closes connections that nobody uses for two. The runner reads the variable later than this runs.
__attribute__((constructor)) static void bound_tests_at_once(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "8", 0);
}

#endif
