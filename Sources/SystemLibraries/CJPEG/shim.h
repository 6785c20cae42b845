// jpeglib.h uses FILE and size_t without including their headers, so the order matters.
#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>
