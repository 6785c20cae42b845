#if canImport(Network)
  import Dispatch
  import ImageViewing
  import Network

  /// Reports to the places on screen whether the system has a network.
  @MainActor enum NetworkWatch {
    private static var monitor: NWPathMonitor?

    /// Begins to watch; further calls do nothing. The watch lasts as long as the process.
    static func begin() {
      guard monitor == nil else { return }
      let new = NWPathMonitor()
      new.pathUpdateHandler = { path in
        let isThere = path.status == .satisfied
        // The monitor's queue is the main queue.
        MainActor.assumeIsolated { PicturePlace.networkChanged(isThere: isThere) }
      }
      new.start(queue: .main)
      monitor = new
    }
  }
#endif
