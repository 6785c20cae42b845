#if GTK && canImport(CGTK)
  import CGTK
  import ImageViewing

  /// Reports to the places on screen whether GIO sees a network.
  @MainActor enum NetworkWatch {
    private static var monitor: OpaquePointer?

    /// Begins to watch; further calls do nothing. The watch lasts as long as the process.
    ///
    /// Not before an image has failed: GIO may ask the system's bus when it makes its monitor.
    static func begin() {
      guard monitor == nil else { return }
      // GIO's own, which is never given back.
      monitor = g_network_monitor_get_default()
      ImagePlace.networkChanged(isThere: g_network_monitor_get_network_available(monitor) != 0)
      let changed: @convention(c) (OpaquePointer?, gboolean, UnsafeMutableRawPointer?) -> Void = {
        _, isThere, _ in
        // GIO reports on the thread that made its monitor, which may be another part of the program's.
        let isThere = isThere != 0
        IdleDelivery.shared.run { ImagePlace.networkChanged(isThere: isThere) }
      }
      g_signal_connect_data(
        monitor.map { UnsafeMutableRawPointer($0) }, "network-changed",
        unsafeBitCast(changed, to: GCallback.self), nil, nil, GConnectFlags(0))
    }
  }
#endif
