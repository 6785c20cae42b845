public import Foundation
import LoadQueue
import Locking

/// Fetches over https and http: what the loads of one source share.
///
/// The client follows redirects itself, since the system would carry credentials along to other hosts.
/// It keeps the time limits itself, since they count for all requests of a load together.
final class HTTPClient: Sendable {
  let options: HTTPOptions
  let policy: HTTPPolicy
  let hosts: HostLimiter
  let connections: HTTPConnections
  let clock: any TimeoutClock
  /// A number from 0 to 1, for pauses that differ.
  let random: @Sendable () -> Double
  let retries = Lock(RetryBudget())

  init(
    options: HTTPOptions, clock: any TimeoutClock,
    random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
  ) {
    var options = options
    options.connectionsPerHost = max(1, options.connectionsPerHost)
    options.redirectLimit = max(0, options.redirectLimit)
    self.options = options
    policy = HTTPPolicy(allowsInsecureHTTP: options.allowsInsecureHTTP)
    hosts = HostLimiter(width: options.connectionsPerHost)
    connections = HTTPConnections(options: options)
    self.clock = clock
    self.random = random
  }

  /// The request for one address of a load: the first one, or one that it was redirected to.
  func httpRequest(
    for url: URL, _ condition: HTTPCondition, of load: ImageSourceRequest
  ) async throws -> HTTPRequest {
    try policy.check(url)
    var request = HTTPRequest(url: url)
    request.firstEntity = load.firstEntity
    request.account = load.account
    request.headers["Accept"] = load.acceptedTypes
    // Images are compressed already, and a plain body has a length that can be checked.
    request.headers["Accept-Encoding"] = "identity"
    request.headers["User-Agent"] = options.userAgent ?? HTTPConnections.userAgent
    var ownNames = Array(request.headers.keys)
    // They may be secrets, and a redirect may lead anywhere.
    if HTTPHost(url) == HTTPHost(load.url) {
      request.headers.merge(load.headers) { $1 }
      request.dropReplaced(ownNames)
      ownNames = Array(request.headers.keys)
    }
    if let modify = options.modifyRequest {
      request = try await modify(request)
      request.dropReplaced(ownNames)
      try policy.check(request.url)
      // The hook may lead elsewhere as well, and passes on what it was given.
      if HTTPHost(request.url) != HTTPHost(load.url) {
        for (name, value) in load.headers where request.headers[name] == value {
          request.headers[name] = nil
        }
      }
    }
    try request.checkHeaders()
    request.headers.merge(condition.sent(to: request.url).fields) { $1 }
    return request
  }
}

/// A GET for one image from a web server.
public struct HTTPRequest: Sendable {
  /// The image's address, https or http.
  public var url: URL

  /// Header fields by name, such as `Authorization`.
  public var headers: [String: String]

  /// The entity whose image began the load; `nil` outside a cache.
  ///
  /// For logs, and never for authorisation: one load serves all who wait for the URL, and only the first
  /// of them stands here.
  public package(set) var firstEntity: ImageID?

  /// The account on whose behalf the image is loaded, for a hook that gives each account its own
  /// credentials; `nil` for everyone, and outside a cache.
  public package(set) var account: AccountID?

  /// Creates a request.
  public init(url: URL, headers: [String: String] = [:]) {
    self.url = url
    self.headers = headers
  }

  /// Drops those of the named fields that are there in another case too: they have been replaced,
  /// since case makes no difference on the wire; RFC 9110 section 5.1.
  mutating func dropReplaced(_ names: some Sequence<String>) {
    for name in names
    where headers.keys.contains(where: { $0 != name && $0.lowercased() == name.lowercased() }) {
      headers[name] = nil
    }
  }

  /// Refuses conditions, and fields that would end early and begin another one: RFC 9112 section 11.1.
  fileprivate func checkHeaders() throws(ImageSourceError) {
    for (name, value) in headers {
      guard !HTTPCondition.reservedNames.contains(name.lowercased()) else {
        throw .reservedHeader(name)
      }
      guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else {
        throw .invalidHeader(name)
      }
      guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw .invalidHeader(name)
      }
    }
  }
}

/// The condition of a request, and so what it asks a server for.
enum HTTPCondition: Sendable {
  /// The whole original.
  case all
  /// The whole original, if it is another than the known one.
  case ifChanged(KnownOriginal)
  /// The original from this byte on, if the known bytes are still its first ones.
  case rest(KnownOriginal, from: Int)

  /// How many known bytes are fetched again where only a date tells versions apart: the answer need not
  /// repeat the date (RFC 9110 section 15.3.7), so that these bytes are the only proof.
  private static let overlapByteCount = 256

  /// Asks for no more than is needed.
  ///
  /// - Parameter resumes: Whether first bytes may be continued.
  init(for known: KnownOriginal?, resumes: Bool) {
    guard let known else {
      self = .all
      return
    }
    if known.isWhole {
      let hasValidator = known.terms.entityTag != nil || known.terms.lastModified != nil
      self = hasValidator ? .ifChanged(known) : .all
      return
    }
    guard resumes, known.terms.mayBeContinued, let total = known.terms.byteCount,
      known.bytes.count <= total
    else {
      self = .all
      return
    }
    // At least one byte is asked for, since a range without bytes is refused.
    let end = min(known.bytes.count, total - 1)
    let isTagged = known.terms.strongValidator == known.terms.entityTag
    let first = isTagged ? end : end - Self.overlapByteCount
    self = first > 0 ? .rest(known, from: first) : .all
  }

  /// The number of first bytes that need not be fetched again.
  var firstByteCount: Int {
    if case .rest(let known, _) = self { known.bytes.count } else { 0 }
  }

  /// The headers that go to one address.
  ///
  /// A validator would tell another host which image was loaded. At another path the server compares
  /// it with another image's: one that is older than the date counts as unchanged.
  func sent(to url: URL) -> HTTPCondition {
    switch self {
    case .all: .all
    case .ifChanged(let known), .rest(let known, _):
      known.terms.origin == HTTPHost.origin(of: url) ? self : .all
    }
  }

  /// The fields that make the request conditional.
  var fields: [String: String] {
    switch self {
    case .all: [:]
    case .ifChanged(let known):
      if let tag = known.terms.entityTag {
        ["If-None-Match": tag]
      } else {
        known.terms.lastModified.map { ["If-Modified-Since": $0] } ?? [:]
      }
    case .rest(let known, let first):
      known.terms.strongValidator.map { ["Range": "bytes=\(first)-", "If-Range": $0] } ?? [:]
    }
  }

  /// Names, in lower case, of the fields that only a condition may set: the answers to others' conditions
  /// would be misread.
  static let reservedNames: Set<String> = [
    "range", "if-range", "if-none-match", "if-modified-since",
  ]
}

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
  func withPermit<Value>(
    for url: URL, urgency: Urgency, willWait: () -> Void = {}, _ body: () async throws -> Value
  ) async throws -> Value {
    let host = HTTPHost(url)
    let limiter = hosts.withLock { hosts in
      var entry = hosts[host] ?? Host(limiter: AdmissionQueue(width: width, reservesPlace: true))
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
