#if defined(__linux__)

#include "memory.h"

#include <stdlib.h>

#include <lcms2_plugin.h>

static void *resize(cmsContext context, void *old, cmsUInt32Number size) {
  // Null while the context itself is made.
  fic_color_memory *memory = cmsGetContextUserData(context);
  if (memory && size > memory->largest) return NULL;
  void *block = realloc(old, size);
  if (!block && memory) memory->was_refused = true;
  return block;
}

static void *take(cmsContext context, cmsUInt32Number size) {
  return resize(context, NULL, size);
}

static void give_back(cmsContext context, void *block) {
  (void)context;
  free(block);
}

cmsContext fic_color_memory_open(fic_color_memory *memory) {
  // The first version whose contexts have memory of their own.
  cmsPluginMemHandler handler = {
      .base = {cmsPluginMagicNumber, 2060, cmsPluginMemHandlerSig, NULL},
      .MallocPtr = take, .FreePtr = give_back, .ReallocPtr = resize};
  return cmsCreateContext(&handler, memory);
}

#endif
