// A target needs a source file; the function stands in the header, to be inlined.
#include "CProcessorClock.h"
