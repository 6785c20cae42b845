#include "CSQLite.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

struct fic_sqlite_functions fic_sqlite;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded = false;

/// Fills `fic_sqlite`; returns the name of a function that the library lacks, or null.
static const char *find_functions(void *library) {
#define FIND(name)                                                                 \
  fic_sqlite.name = (__typeof__(sqlite3_##name) *)dlsym(library, "sqlite3_" #name); \
  if (!fic_sqlite.name) return "sqlite3_" #name;
  FIC_EACH_SQLITE_FUNCTION(FIND)
  return NULL;
}

static bool load(char *reason, size_t capacity) {
  // All of its references now, so that an unfit library is an error here and no crash later.
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(reason, capacity, "%s (Debian's package libsqlite3-0)", dlerror());
    return false;
  }
  const char *missing = find_functions(library);
  if (missing) {
    snprintf(reason, capacity, "libsqlite3.so.0 has no %s", missing);
    dlclose(library);
  }
  return !missing;
}

bool fic_sqlite_load(char *reason, size_t capacity) {
  pthread_mutex_lock(&lock);
  if (!is_loaded) is_loaded = load(reason, capacity);
  bool result = is_loaded;
  pthread_mutex_unlock(&lock);
  return result;
}

#else

bool fic_sqlite_load(char *reason, size_t capacity) { return true; }

#endif
