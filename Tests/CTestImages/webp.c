#if defined(__linux__)

#include "CTestImages.h"

#include <stdlib.h>

#include <webp/encode.h>

fic_test_bytes fic_test_encode_webp(
    uint32_t width, uint32_t height, const uint8_t *pixels, bool lossless, float quality) {
  WebPConfig config;
  WebPPicture picture;
  if (!WebPConfigInit(&config) || !WebPPictureInit(&picture)) abort();
  config.lossless = lossless;
  config.quality = quality;
  config.exact = 1;
  picture.use_argb = lossless;
  picture.width = (int)width;
  picture.height = (int)height;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  if (!WebPPictureImportRGBA(&picture, pixels, (int)width * 4)) abort();
  if (!WebPEncode(&config, &picture)) abort();
  WebPPictureFree(&picture);
  return (fic_test_bytes){writer.mem, writer.size};
}

#endif
