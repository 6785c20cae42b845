/// Two gates, so that images on disk never queue behind downloads.
struct LoadGates: Sendable {
  private let network: LoadGate
  private let local: LoadGate

  /// The width of the wider one.
  let largestWidth: Int

  /// Each is at least one wide.
  ///
  /// - Parameters:
  ///   - network: How many loads that need the network may hold encoded bytes at the same time.
  ///   - local: How many of all other loads may.
  init(network: Int, local: Int) {
    self.network = LoadGate(width: max(1, network))
    self.local = LoadGate(width: max(1, local))
    largestWidth = max(1, network, local)
  }

  subscript(need: LoadNeed) -> LoadGate {
    switch need {
    case .network: network
    case .local: local
    }
  }
}
