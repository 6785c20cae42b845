#ifndef BENCH_JPEG_ERRORS_H
#define BENCH_JPEG_ERRORS_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

// libjpeg ends the process at an error unless its handler jumps out.

typedef struct {
  struct jpeg_error_mgr manager;
  jmp_buf leave;
} error_handler;

static inline void fail(j_common_ptr codec) {
  error_handler *handler = (error_handler *)codec->err;
  longjmp(handler->leave, 1);
}

#endif
