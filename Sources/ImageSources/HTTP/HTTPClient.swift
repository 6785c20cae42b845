import Foundation
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
  let clock: any PatienceClock
  /// A number from 0 to 1, for pauses that differ.
  let random: @Sendable () -> Double
  let retries = Lock(RetryBudget())

  init(
    options: HTTPOptions, clock: any PatienceClock,
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
    request.headers["Accept"] = "image/*"
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
