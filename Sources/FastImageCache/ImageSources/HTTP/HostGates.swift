import Foundation
import Locking

/// Bounds how many requests are with one host at a time; the most urgent waiting request is next.
///
/// `URLSession` and libcurl bound connections too. But they count the time in their queues as silence
/// of the server, and do not tell when a request leaves the queue.
///
/// Invariant: a host has a gate exactly as long as a request waits there or is inside, so that a source
/// that meets many hosts keeps nothing of them.
final class HostGates: Sendable {
  private struct Entry: Sendable {
    let gate: LoadGate
    var userCount = 0
  }

  private let width: Int
  private let entries = Lock<[HTTPHost: Entry]>([:])

  init(width: Int) {
    self.width = width
  }

  /// How many hosts have a gate, how many requests are at a gate, and how many of these wait there.
  var counts: (hosts: Int, requests: Int, waiting: Int) {
    let entries = entries.withLock { Array($0.values) }
    return (
      entries.count, entries.reduce(0) { $0 + $1.userCount },
      entries.reduce(0) { $0 + $1.gate.counts.waiting }
    )
  }

  /// Runs `body` when a request to the host of `url` may be sent.
  ///
  /// A load that has to wait returns its permit meanwhile, so that a host that does not answer takes no
  /// more turns at the network gate than it has connections. A load waits at the network gate inside
  /// this one, and never the other way round, so the two gates cannot deadlock.
  ///
  /// - Parameter permit: The load's permit for its cache's gates; `nil` outside a cache.
  /// - Throws: `CancellationError` when the task is cancelled while it waits, and what `body` throws.
  func pass<Value>(
    for url: URL, urgency: Urgency, permit: LoadPermit? = nil,
    _ body: () async throws -> Value
  ) async throws -> Value {
    let host = HTTPHost(url)
    let gate = enter(host)
    defer { leave(host) }
    let stepAside = { permit?.giveUp() ?? () }
    return try await gate.pass(urgency: urgency, willWait: stepAside) {
      try await permit?.pass(.network)
      return try await body()
    }
  }

  private func enter(_ host: HTTPHost) -> LoadGate {
    entries.withLock { entries in
      var entry = entries[host] ?? Entry(gate: LoadGate(width: width))
      entry.userCount += 1
      entries[host] = entry
      return entry.gate
    }
  }

  private func leave(_ host: HTTPHost) {
    entries.withLock { entries in
      entries[host]?.userCount -= 1
      if entries[host]?.userCount == 0 { entries[host] = nil }
    }
  }
}
