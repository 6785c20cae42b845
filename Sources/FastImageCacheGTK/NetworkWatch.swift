#if GTK && canImport(CGTK)
  import CGTK
  import ImageViewing

  /// Asks again for the pictures that failed, as soon as GIO says that the system's network has changed and
  /// is there.
  ///
  /// A change between two networks counts too: a picture may have failed on the way, and GIO need not say
  /// that there was none in between.
  @MainActor enum NetworkWatch {
    private static var monitor: OpaquePointer?

    /// Begins to watch; further calls do nothing. The watch lasts as long as the process.
    ///
    /// Not before a picture has failed: GIO may ask the system's bus when it makes its monitor.
    static func begin() {
      guard monitor == nil else { return }
      // GIO's own, which is never given back.
      monitor = g_network_monitor_get_default()
      let changed: @convention(c) (OpaquePointer?, gboolean, UnsafeMutableRawPointer?) -> Void = {
        _, isThere, _ in
        // GIO tells the main context in which its monitor was made.
        if isThere != 0 { MainActor.assumeIsolated { PicturePlace.retryFailed() } }
      }
      g_signal_connect_data(
        monitor.map { UnsafeMutableRawPointer($0) }, "network-changed",
        unsafeBitCast(changed, to: GCallback.self), nil, nil, GConnectFlags(0))
    }
  }
#endif
