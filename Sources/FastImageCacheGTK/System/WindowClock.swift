#if GTK && canImport(CGTK)
  import CGTK
  import ImageViewing

  /// The frame clock of a window, which runs while something in the window plays.
  ///
  /// A window that is hidden, minimised or covered by the compositor's choice gets no frames, and so asks for none.
  ///
  /// Invariants:
  /// 1. The window's data holds this object, and a callback that is added holds it too.
  /// 2. `window` is used while something in it is mapped.
  @MainActor final class WindowClock {
    private static let attached = AttachedObject<WindowClock>(key: "fast-image-cache-clock")

    private let window: OpaquePointer
    private var callback: guint = 0
    private(set) lazy var players = WindowPlayers { [weak self] in self?.setRunning($0) }

    /// The clock of a widget's window; `nil` outside of windows.
    static func of(_ widget: OpaquePointer) -> WindowClock? {
      guard let window = gtk_widget_get_root(UnsafeMutablePointer(widget)) else { return nil }
      if let clock = attached.object(of: window) { return clock }
      let clock = WindowClock(window)
      attached.attach(clock, to: window)
      return clock
    }

    private init(_ window: OpaquePointer) { self.window = window }

    private func setRunning(_ isRunning: Bool) {
      let window = UnsafeMutablePointer<GtkWidget>(window)
      guard isRunning else {
        gtk_widget_remove_tick_callback(window, callback)
        return
      }
      callback = gtk_widget_add_tick_callback(
        window,
        { _, frames, data in
          guard let frames, let data else { return false.asBoolean }
          let clock = Unmanaged<WindowClock>.fromOpaque(data).takeUnretainedValue()
          let now = Duration.microseconds(gdk_frame_clock_get_frame_time(frames))
          MainActor.assumeIsolated { _ = clock.players.tick(at: now) }
          return true.asBoolean
        }, Unmanaged.passRetained(self).toOpaque(),
        { data in if let data { Unmanaged<WindowClock>.fromOpaque(data).release() } })
    }
  }
#endif
