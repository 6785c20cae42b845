#pragma once

#include <gtk/gtk.h>

// `G_CALLBACK` and variadic functions are macros and calls that Swift does not see.

/// Calls `handler(data, argument)`; the argument is the signal's first, or the instance.
static inline void gallery_connect(void *instance, const char *signal, void (*handler)(void *, void *),
                                   void *data, void (*release)(void *, GClosure *)) {
  g_signal_connect_data(instance, signal, G_CALLBACK(handler), data, release, G_CONNECT_SWAPPED);
}

/// The same for a signal whose first argument is a number.
static inline void gallery_connect_number(void *instance, const char *signal, void (*handler)(void *, int),
                                          void *data, void (*release)(void *, GClosure *)) {
  g_signal_connect_data(instance, signal, G_CALLBACK(handler), data, release, G_CONNECT_SWAPPED);
}

/// Calls `hook(instance)` before the handlers of a signal, of every widget.
static inline void gallery_watch(const char *signal, GSignalEmissionHook hook) {
  g_signal_add_emission_hook(g_signal_lookup(signal, GTK_TYPE_WIDGET), 0, hook, NULL, NULL);
}
