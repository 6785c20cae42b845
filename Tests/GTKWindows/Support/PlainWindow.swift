#if GTK && canImport(CGTK)
  import CGTK

  /// A window with one widget.
  @MainActor final class PlainWindow {
    private let window = UnsafeMutablePointer<GtkWindow>(
      OpaquePointer(gtk_window_new().unsafelyUnwrapped))

    private let size: (width: Int32, height: Int32)

    init(width: Int32 = 200, height: Int32 = 150) { size = (width, height) }

    /// Gives the window another widget, or none, and waits for its frames.
    func show(_ widget: OpaquePointer?) {
      present(widget)
      draw()
    }

    /// Gives the window another widget, which is not drawn yet.
    func present(_ widget: OpaquePointer?) {
      gtk_window_set_default_size(window, size.width, size.height)
      gtk_window_set_child(window, widget.map { UnsafeMutablePointer($0) })
      gtk_window_present(window)
    }

    /// Takes the widget away, before any event is heard.
    func clear() { gtk_window_set_child(window, nil) }

    /// Waits until two more frames are drawn.
    func draw() {
      let widget = UnsafeMutablePointer<GtkWidget>(OpaquePointer(window))
      gtk_widget_queue_draw(widget)
      guard let clock = gtk_widget_get_frame_clock(widget) else { return }
      let end = gdk_frame_clock_get_frame_counter(clock) + 2
      gdk_frame_clock_begin_updating(clock)
      Loop.turn { gdk_frame_clock_get_frame_counter(clock) >= end }
      gdk_frame_clock_end_updating(clock)
    }

    func screen(of widget: OpaquePointer) -> Screen? { Screen(of: UnsafeMutablePointer(widget)) }

    func close() { gtk_window_destroy(window) }
  }
#endif
