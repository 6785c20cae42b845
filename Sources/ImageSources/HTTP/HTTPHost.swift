import Foundation
import LoadQueue
import Locking

/// Bounds how many requests are with one host at a time; of those that wait, the one with the highest priority is next.
///
/// `URLSession` and libcurl bound connections too. But they count the time in their queues as silence
/// of the server, and do not tell when a request leaves the queue.
///
/// Invariant: a host is remembered exactly as long as a request waits for it or is with it.
final class HostLimiter: Sendable {
  private struct Host {
    let limiter: AdmissionQueue
    var requestCount = 0
  }

  private let width: Int
  private let hosts = Lock<[HTTPHost: Host]>([:])

  init(width: Int) {
    self.width = width
  }

  /// How many hosts are remembered, how many requests are with them or wait, and how many of these wait.
  var counts: (hosts: Int, requests: Int, waiting: Int) {
    let hosts = hosts.withLock { Array($0.values) }
    return (
      hosts.count, hosts.reduce(0) { $0 + $1.requestCount },
      hosts.reduce(0) { $0 + $1.limiter.counts.waiting }
    )
  }

  /// Runs `body` when a request to the host of `url` may be sent.
  ///
  /// - Parameter willWait: Called if the turn does not come at once.
  /// - Throws: `CancellationError` when the task is cancelled while it waits, and what `body` throws.
  func pass<Value>(
    for url: URL, urgency: Urgency, willWait: () -> Void = {}, _ body: () async throws -> Value
  ) async throws -> Value {
    let host = HTTPHost(url)
    let limiter = hosts.withLock { hosts in
      var entry = hosts[host] ?? Host(limiter: AdmissionQueue(width: width, keepsPlace: true))
      entry.requestCount += 1
      hosts[host] = entry
      return entry.limiter
    }
    defer {
      hosts.withLock { hosts in
        hosts[host]?.requestCount -= 1
        if hosts[host]?.requestCount == 0 { hosts[host] = nil }
      }
    }
    let id = try await limiter.enter(urgency, willWait: willWait)
    defer { limiter.finish(id) }
    return try await body()
  }
}

/// A server as addresses name it: RFC 9110 section 4.3.1.
struct HTTPHost: Hashable, Sendable {
  private let scheme: String
  private let name: String
  private let port: Int

  init(_ url: URL) {
    scheme = url.scheme?.lowercased() ?? ""
    name = url.host?.lowercased() ?? ""
    // RFC 9110 sections 4.2.1 and 4.2.2.
    port = url.port ?? (scheme == "https" ? 443 : 80)
  }

  /// A resource of the server in one text, port included.
  ///
  /// Without the query, since a signed address has another one each time.
  static func origin(of url: URL) -> String {
    let (host, path) = (HTTPHost(url), url.absoluteURL.path(percentEncoded: true))
    return "\(host.scheme)://\(host.name):\(host.port)" + (path.isEmpty ? "/" : path)
  }
}
