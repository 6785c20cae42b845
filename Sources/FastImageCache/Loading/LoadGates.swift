package import Foundation

/// Two gates, so that pictures on disk never queue behind downloads.
package struct LoadGates: Sendable {
  private let network: LoadGate
  private let local: LoadGate

  /// Each is at least one wide.
  ///
  /// - Parameters:
  ///   - network: How many loads over http and https may hold encoded bytes at the same time.
  ///   - local: How many of all others may.
  package init(network: Int, local: Int) {
    self.network = LoadGate(width: max(1, network))
    self.local = LoadGate(width: max(1, local))
  }

  package func pass<Value>(
    for url: URL, urgency: Urgency, _ body: () async throws -> Value
  ) async throws -> Value {
    let isRemote = ["http", "https"].contains(url.scheme?.lowercased() ?? "")
    return try await (isRemote ? network : local).pass(urgency: urgency, body)
  }
}
