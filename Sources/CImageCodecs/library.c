#if defined(__linux__) && (defined(FIC_SVG) || defined(FIC_PIXBUF))

#include "library.h"

#include <dlfcn.h>
#include <stdio.h>

static bool load(fic_library *library, char *reason, size_t capacity) {
  void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    snprintf(reason, capacity, "%s", dlerror());
    return false;
  }
  for (size_t i = 0; i < library->count; i++) {
    library->addresses[i] = dlsym(handle, library->functions[i]);
    if (library->addresses[i]) continue;
    // GLib's types stay registered, so the library must stay, too.
    snprintf(reason, capacity, "%s has no %s", library->name, library->functions[i]);
    return false;
  }
  return true;
}

bool fic_library_load(fic_library *library, char *reason, size_t capacity) {
  pthread_mutex_lock(&library->lock);
  if (!library->is_loaded) library->is_loaded = load(library, reason, capacity);
  bool is_loaded = library->is_loaded;
  pthread_mutex_unlock(&library->lock);
  return is_loaded;
}

#endif
