#if defined(__linux__)

#include "CBenchPeers.h"
#include "jpeg_errors.h"

#include <stdio.h>
#include <stdlib.h>

/// Works as jpegtran(1) does: the coefficients stay as they are, so that both files show one
/// image.
int bench_make_progressive(const char *from, const char *to) {
  FILE *input = fopen(from, "rb");
  FILE *output = fopen(to, "wb");
  struct jpeg_decompress_struct source;
  struct jpeg_compress_struct target;
  error_handler handler;
  // `volatile`, since it changes after setjmp and is used after longjmp.
  volatile int result = -1;
  source.err = target.err = jpeg_std_error(&handler.manager);
  handler.manager.error_exit = fail;
  jpeg_create_decompress(&source);
  jpeg_create_compress(&target);
  if (input && output && !setjmp(handler.leave)) {
    jpeg_stdio_src(&source, input);
    jpeg_read_header(&source, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&source);
    jpeg_copy_critical_parameters(&source, &target);
    jpeg_simple_progression(&target);
    jpeg_stdio_dest(&target, output);
    jpeg_write_coefficients(&target, coefficients);
    jpeg_finish_compress(&target);
    jpeg_finish_decompress(&source);
    result = 0;
  }
  jpeg_destroy_compress(&target);
  jpeg_destroy_decompress(&source);
  if (input) fclose(input);
  if (output && fclose(output) != 0) result = -1;
  return result;
}

#endif
