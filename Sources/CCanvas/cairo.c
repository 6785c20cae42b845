#include "CCanvas.h"

#if FIC_HAS_CAIRO

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

struct fic_cairo_functions fic_cairo;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded = false;

/// Fills `fic_cairo`; returns the name of a function that the library lacks, or null.
static const char *find_functions(void *library) {
#define FIND(name)                                                               \
  fic_cairo.name = (__typeof__(cairo_##name) *)dlsym(library, "cairo_" #name);   \
  if (!fic_cairo.name) return "cairo_" #name;
  FIC_EACH_CAIRO_FUNCTION(FIND)
  return NULL;
}

static bool load(const char *name, char *reason, size_t capacity) {
  // All of its references now, so that an unfit library is an error here and no crash later.
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(reason, capacity, "%s", dlerror());
    return false;
  }
  const char *missing = find_functions(library);
  if (missing) {
    snprintf(reason, capacity, "%s has no %s", name, missing);
    dlclose(library);
  }
  return !missing;
}

bool fic_cairo_load(const char *name, char *reason, size_t capacity) {
  pthread_mutex_lock(&lock);
  if (!is_loaded) is_loaded = load(name, reason, capacity);
  bool result = is_loaded;
  pthread_mutex_unlock(&lock);
  return result;
}

#endif
