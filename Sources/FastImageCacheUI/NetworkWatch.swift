#if canImport(Network)
  import Dispatch
  import ImageViewing
  import Network

  /// Asks again for the pictures that failed, as soon as the system has a network after it had none.
  @MainActor enum NetworkWatch {
    private static var monitor: NWPathMonitor?
    private static var isThere = true

    /// Begins to watch; further calls do nothing. The watch lasts as long as the process.
    static func begin() {
      guard monitor == nil else { return }
      let new = NWPathMonitor()
      new.pathUpdateHandler = { path in
        let isThere = path.status == .satisfied
        // The monitor's queue is the main queue.
        MainActor.assumeIsolated { changed(to: isThere) }
      }
      new.start(queue: .main)
      monitor = new
    }

    private static func changed(to isThere: Bool) {
      let isBack = isThere && !self.isThere
      self.isThere = isThere
      if isBack { PicturePlace.retryFailed() }
    }
  }
#endif
