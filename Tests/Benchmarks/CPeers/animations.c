#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include <webp/demux.h>
#include <webp/encode.h>
#include <webp/mux.h>

/// A disc on a ground of many colours; it goes once around in all frames.
static void draw(unsigned char *pixels, int width, int height, int frame, int frames) {
  int x = width / 4 + width / 2 * (frame * 2 < frames ? frame : frames - frame) / frames * 2;
  int y = height / 2 + (frame % 5 - 2) * height / 20;
  for (int row = 0; row < height; row++) {
    for (int column = 0; column < width; column++) {
      unsigned char *pixel = pixels + ((size_t)row * width + column) * 4;
      int apart = (column - x) * (column - x) + (row - y) * (row - y);
      int inside = apart < width * height / 25;
      pixel[0] = inside ? 40 : (unsigned char)(column * 255 / width);
      pixel[1] = inside ? (unsigned char)(apart * 6000 / (width * height)) : (unsigned char)(row * 255 / height);
      pixel[2] = inside ? 220 : (unsigned char)((row ^ column) & 255);
      pixel[3] = 255;
    }
  }
}

static int make(int width, int height, int frames, void **bytes, size_t *count) {
  WebPAnimEncoder *encoder = WebPAnimEncoderNew(width, height, NULL);
  unsigned char *pixels = malloc((size_t)width * height * 4);
  WebPConfig config;
  WebPData data = {0};
  int made = encoder && pixels && WebPConfigInit(&config);
  for (int frame = 0; made && frame < frames; frame++) {
    WebPPicture image;
    made = WebPPictureInit(&image);
    image.width = width;
    image.height = height;
    image.use_argb = 1;
    draw(pixels, width, height, frame, frames);
    made = made && WebPPictureImportBGRA(&image, pixels, width * 4) &&
           WebPAnimEncoderAdd(encoder, &image, frame * 40, &config);
    WebPPictureFree(&image);
  }
  made = made && WebPAnimEncoderAdd(encoder, NULL, frames * 40, NULL) &&
         WebPAnimEncoderAssemble(encoder, &data);
  *count = data.size;
  *bytes = made ? malloc(data.size) : NULL;
  if (*bytes) memcpy(*bytes, data.bytes, data.size);
  WebPDataClear(&data);
  WebPAnimEncoderDelete(encoder);
  free(pixels);
  return *bytes ? 0 : -1;
}

static void *begin(const void *bytes, size_t count) {
  WebPAnimDecoderOptions options;
  if (!WebPAnimDecoderOptionsInit(&options)) return NULL;
  options.color_mode = MODE_bgrA;
  WebPData data = {bytes, count};
  return WebPAnimDecoderNew(&data, &options);
}

static const void *next(void *player) {
  uint8_t *pixels = NULL;
  int time = 0;
  return WebPAnimDecoderGetNext(player, &pixels, &time) ? pixels : NULL;
}

static void end(void *player) { WebPAnimDecoderDelete(player); }

const bench_animator bench_webp_animator = {
  .name = "libwebp's WebPAnimDecoder",
  .reason = "decodes each frame of each loop into one canvas, as views do that keep no frames",
  .make = make,
  .begin = begin,
  .next = next,
  .end = end,
};
