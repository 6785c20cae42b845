#if canImport(Network)
  import Dispatch
  import ImageViewing
  import Network

  /// Reports to the places on screen whether the system has a network, and whether the user saves data on it.
  @MainActor enum NetworkWatch {
    private static var monitor: NWPathMonitor?
    private static var savesData = false

    /// Begins to watch; further calls do nothing. The watch lasts as long as the process.
    static func begin() {
      guard monitor == nil else { return }
      let new = NWPathMonitor()
      new.pathUpdateHandler = { path in
        let (isThere, savesData) = (path.status == .satisfied, path.isConstrained)
        // The monitor's queue is the main queue.
        MainActor.assumeIsolated { changed(isThere: isThere, savesData) }
      }
      new.start(queue: .main)
      monitor = new
    }

    private static func changed(isThere: Bool, _ savesData: Bool) {
      // First, so that what failed is asked for as the new network wants it.
      if savesData != self.savesData { ImagePlace.dataSavingChanged(to: savesData) }
      self.savesData = savesData
      ImagePlace.networkChanged(isThere: isThere)
    }
  }
#endif
