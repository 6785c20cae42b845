/// Bounds how many loads hold encoded bytes at the same time.
///
/// A load passes a gate before it asks its source and leaves when it is over. So a
/// thousand rows scrolled by cost the memory of a few files, not of a thousand: disks are faster than
/// decoders, and files that cannot be decoded yet wait outside, unread.
///
/// A download that broke off leaves for the pause before its retry, and keeps what has arrived: the gate
/// does not bound these bytes.
///
/// Of several places one is not for loads below medium priority: the load of a row on screen would wait outside for
/// one of them.
package struct LoadGate: Sendable {
  /// A load declares no bytes, so no budget can refuse it.
  let queue: AdmissionQueue

  package init(width: Int) {
    queue = AdmissionQueue(width: width, byteBudget: 0, keepsPlace: true)
  }

  /// Loads that wait for their turn at this moment, and loads inside.
  package var counts: (waiting: Int, inside: Int) { queue.counts }

  /// Runs `body` when its turn comes, the most urgent load first.
  ///
  /// - Parameter willWait: Called if the turn does not come at once.
  /// - Throws: `CancellationError` when the task is cancelled while it waits, and what `body`
  ///   throws.
  package func pass<Value>(
    urgency: Urgency, willWait: () -> Void = {}, _ body: () async throws -> Value
  ) async throws -> Value {
    let id = try await enter(urgency, willWait: willWait)
    defer { leave(id) }
    return try await body()
  }

  /// Waits for a turn, the most urgent load first; a load that was let in leaves once.
  ///
  /// - Throws: `CancellationError` when the task is cancelled while it waits.
  func enter(
    _ urgency: Urgency, willWait: () -> Void = {}
  ) async throws -> Admission.JobID {
    let answer = await queue.enter(urgency, willWait: willWait) { continuation, _ in
      { continuation.resume(returning: $0) }
    }
    guard case .admitted(let id, _) = answer else { throw CancellationError() }
    return id
  }

  func leave(_ id: Admission.JobID) { queue.finish(id) }
}

/// Two gates, so that images on disk never queue behind downloads.
package struct LoadGates: Sendable {
  private let network: LoadGate
  private let local: LoadGate

  /// The width of the wider one.
  package let largestWidth: Int

  /// Each is at least one wide.
  ///
  /// - Parameters:
  ///   - network: How many loads that need the network may hold encoded bytes at the same time.
  ///   - local: How many of all other loads may.
  package init(network: Int, local: Int) {
    self.network = LoadGate(width: max(1, network))
    self.local = LoadGate(width: max(1, local))
    largestWidth = max(1, network, local)
  }

  package subscript(need: LoadNeed) -> LoadGate {
    switch need {
    case .network: network
    case .local: local
    }
  }
}

/// The kind of resource that a load uses; it decides at which limiter the load waits for its turn.
package enum LoadNeed: Hashable, Sendable {
  /// Disk, memory, processor: bounded by the `localWidth` of ``LoadResources``.
  case local

  /// A network: bounded by the `networkWidth` of ``LoadResources``.
  case network
}
