#if GTK && canImport(CGTK)
  import CGTK

  /// Calls a handler after each layout of a widget's window, before the frame is drawn: GTK 4 has no signal for the new
  /// size of a widget.
  ///
  /// Invariant: the clock is there as long as its handler.
  final class LayoutWatch {
    private let clock: GObjectReference
    private let handler: gulong

    /// - Parameters:
    ///   - widget: A mapped widget.
    ///   - data: What the handler gets, which nothing retains: it must live as long as this object.
    init?(
      _ widget: UnsafeMutablePointer<GtkWidget>, data: UnsafeMutableRawPointer,
      _ handler: SignalHandler
    ) {
      guard let clock = gtk_widget_get_frame_clock(widget) else { return nil }
      self.clock = GObjectReference(sharing: clock)
      self.handler = connect(clock, "layout", to: data, handler)
      // A list maps cells during a layout, whose handlers GLib has counted already. The same frame has another one.
      gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_LAYOUT)
    }

    deinit { g_signal_handler_disconnect(UnsafeMutableRawPointer(clock.pointer), handler) }
  }
#endif
