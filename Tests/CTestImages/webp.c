#if defined(__linux__)

#include "CTestImages.h"

#include <stdlib.h>

#include <webp/encode.h>

fic_test_bytes fic_test_encode_webp(
    uint32_t width, uint32_t height, const uint8_t *pixels, bool lossless, float quality) {
  WebPConfig config;
  WebPPicture image;
  if (!WebPConfigInit(&config) || !WebPPictureInit(&image)) abort();
  config.lossless = lossless;
  config.quality = quality;
  config.exact = 1;
  image.use_argb = lossless;
  image.width = (int)width;
  image.height = (int)height;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  image.writer = WebPMemoryWrite;
  image.custom_ptr = &writer;
  if (!WebPPictureImportRGBA(&image, pixels, (int)width * 4)) abort();
  if (!WebPEncode(&config, &image)) abort();
  WebPPictureFree(&image);
  return (fic_test_bytes){writer.mem, writer.size};
}

#endif
