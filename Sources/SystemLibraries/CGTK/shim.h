#include <glib-unix.h>
#include <gtk/gtk.h>
#include <sys/eventfd.h>

// Swift cannot call functions with variable arguments; these fix the arguments' types.

// What a screen reader says of the widget; NULL leaves the widget out.
static inline void fic_gtk_set_label(GtkWidget *widget, const char *text) {
  GtkAccessible *accessible = GTK_ACCESSIBLE(widget);
  if (text)
    gtk_accessible_update_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  else
    gtk_accessible_reset_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL);
  gtk_accessible_update_state(accessible, GTK_ACCESSIBLE_STATE_HIDDEN, text == NULL, -1);
}

// Whether a screen reader leaves the widget out; for tests, with GTK_A11Y=test.
static inline gboolean fic_gtk_is_left_out(GtkWidget *widget) {
  char *difference = gtk_test_accessible_check_state(
      GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE);
  g_free(difference);
  return difference == NULL;
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
