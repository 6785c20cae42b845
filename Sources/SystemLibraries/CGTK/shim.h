#include <glib-unix.h>
#include <gtk/gtk.h>
#include <sys/eventfd.h>

// Swift cannot call functions with variable arguments; these fix the arguments' types.

// What a screen reader says of the widget; NULL says nothing.
static inline void fic_gtk_set_label(GtkWidget *widget, const char *text) {
  GtkAccessible *accessible = GTK_ACCESSIBLE(widget);
  if (text)
    gtk_accessible_update_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  else
    gtk_accessible_reset_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL);
}

// The doors that libdispatch keeps for CoreFoundation's run loop: exported, and in no header.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *);

// An eventfd(2), readable when the main queue has jobs.
static inline int fic_gtk_main_queue_descriptor(void) {
  return _dispatch_get_main_queue_handle_4CF();
}

static inline void fic_gtk_run_main_queue(int descriptor) {
  eventfd_t count;
  // Nothing to read means that another source of the loop has run the jobs.
  (void)eventfd_read(descriptor, &count);
  _dispatch_main_queue_callback_4CF(NULL);
}
