import Foundation
import Locking

/// Bounds how many requests are with one host at a time; the most urgent of those that wait is next.
///
/// The systems bound connections too, but count the time in their queues as silence of the server,
/// and do not say when a request leaves the queue.
///
/// Invariant: a host has a gate exactly as long as somebody is at it, so that a long life with many
/// hosts leaves nothing behind.
final class HostGates: Sendable {
  private struct Host: Hashable {
    let scheme: String?
    let name: String?
    let port: Int?

    init(_ url: URL) {
      scheme = url.scheme?.lowercased()
      name = url.host?.lowercased()
      // RFC 9110 sections 4.2.1 and 4.2.2.
      port = url.port ?? (scheme == "https" ? 443 : 80)
    }
  }

  private struct Entry: Sendable {
    let gate: LoadGate
    var userCount = 0
  }

  private let width: Int
  private let entries = Lock<[Host: Entry]>([:])

  init(width: Int) {
    self.width = width
  }

  /// How many hosts have a gate, how many requests are at one, and how many of these wait there.
  var counts: (hosts: Int, requests: Int, waiting: Int) {
    let entries = entries.withLock { Array($0.values) }
    return (
      entries.count, entries.reduce(0) { $0 + $1.userCount },
      entries.reduce(0) { $0 + $1.gate.counts.waiting }
    )
  }

  /// Runs `body` when a request to the host of `url` may be sent.
  ///
  /// A load that has to wait gives its permit back meanwhile: a host that does not answer takes no
  /// more turns at the network gate than it has connections. It holds its turn here when it waits
  /// there, and never the other way round, so that no ring comes of the two.
  ///
  /// - Parameter permit: What the load holds of its cache's gates.
  /// - Throws: `CancellationError` when the task is cancelled while it waits, and what `body` throws.
  func pass<Value>(
    for url: URL, urgency: Urgency, permit: LoadPermit? = nil,
    _ body: () async throws -> Value
  ) async throws -> Value {
    let host = Host(url)
    let gate = enter(host)
    defer { leave(host) }
    let stepAside = { permit?.giveUp() ?? () }
    return try await gate.pass(urgency: urgency, willWait: stepAside) {
      try await permit?.pass(.network)
      return try await body()
    }
  }

  private func enter(_ host: Host) -> LoadGate {
    entries.withLock { entries in
      var entry = entries[host] ?? Entry(gate: LoadGate(width: width))
      entry.userCount += 1
      entries[host] = entry
      return entry.gate
    }
  }

  private func leave(_ host: Host) {
    entries.withLock { entries in
      entries[host]?.userCount -= 1
      if entries[host]?.userCount == 0 { entries[host] = nil }
    }
  }
}
