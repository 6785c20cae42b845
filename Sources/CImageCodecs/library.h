#ifndef FIC_LIBRARY_H
#define FIC_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// A library that is opened at its first use. So neither its headers nor its dozens of libraries are needed where nobody
// uses it.
typedef struct {
  const char *name;                // its soname
  const char *const *functions;    // names, of the libraries below it, too
  void **addresses;                // one for each; only read once the library is loaded
  size_t count;
  pthread_mutex_t lock;
  bool is_loaded;
} fic_library;

// Opens the library unless it is open, or gives the reason why that cannot be.
bool fic_library_load(fic_library *library, char *reason, size_t capacity);

// The names of functions, and the table of their addresses, in the order of a list that applies a macro to the result,
// the name and the parameters of each.
#define FIC_FUNCTION_NAME(result, name, parameters) #name,
#define FIC_FUNCTION_MEMBER(result, name, parameters) result(*name) parameters;

// Defines `library`, and the table `functions` with a member for each function of the list.
#define FIC_LIBRARY(soname, list)                                                                        \
  static struct { list(FIC_FUNCTION_MEMBER) } functions;                                                 \
  static const char *const function_names[] = {list(FIC_FUNCTION_NAME)};                                 \
  _Static_assert(sizeof functions == sizeof function_names, "each function has one place in the table"); \
  static fic_library library = {                                                                         \
      soname, function_names, (void **)&functions, sizeof function_names / sizeof *function_names,       \
      PTHREAD_MUTEX_INITIALIZER, false}

#endif
