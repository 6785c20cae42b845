import Foundation
import Locking

/// Fetches over https and http.
///
/// Redirects are followed here rather than by the system, which would carry credentials along to
/// other hosts; and time is kept here, because it counts for all requests of a load together.
final class HTTPClient: Sendable {
  private let options: HTTPOptions
  private let policy: HTTPPolicy
  private let connections: HTTPConnections

  init(options: HTTPOptions) {
    self.options = options
    policy = HTTPPolicy(allowsInsecureHTTP: options.allowsInsecureHTTP)
    connections = HTTPConnections(options: options)
  }

  /// Fetches one body.
  ///
  /// - Throws: ``ImageSourceError``, what ``HTTPOptions/modifyRequest`` throws, and
  ///   `CancellationError` as soon as the task is cancelled.
  func body(
    of request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
  ) async throws -> Data {
    let activity = Activity()
    return try await withThrowingTaskGroup(of: Data.self) { group in
      group.addTask {
        try await self.followingRedirects(request, activity) {
          activity.touch()
          progress($0)
        }
      }
      group.addTask { try await self.watch(activity) }
      defer { group.cancelAll() }
      guard let body = try await group.next() else { throw CancellationError() }
      return body
    }
  }

  private func followingRedirects(
    _ request: ImageSourceRequest, _ activity: Activity,
    progress: @escaping @Sendable (ImageSourceProgress) -> Void
  ) async throws -> Data {
    var url = request.url
    for _ in 0...options.redirectLimit {
      let httpRequest = try await httpRequest(for: url)
      activity.touch()
      let transfer = HTTPTransfer(byteCountLimit: request.byteCountLimit, progress: progress)
      switch try await connections.outcome(
        of: httpRequest, priority: request.priority, transfer)
      {
      case .body(let body):
        return body
      case .redirect(let target):
        try policy.checkRedirect(from: httpRequest.url, to: target)
        url = target
      }
    }
    throw ImageSourceError.tooManyRedirects(limit: options.redirectLimit)
  }

  private func httpRequest(for url: URL) async throws -> HTTPRequest {
    try policy.check(url)
    var request = HTTPRequest(url: url)
    request.headers["Accept"] = "image/*"
    // Pictures are compressed already, and a plain body has a length that can be checked.
    request.headers["Accept-Encoding"] = "identity"
    if let modify = options.modifyRequest {
      request = try await modify(request)
      try policy.check(request.url)
      try request.checkHeaders()
    }
    return request
  }

  /// Ends by throwing as soon as one of the two time limits is over.
  private func watch(_ activity: Activity) async throws -> Never {
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: options.totalTimeout)
    while true {
      let idleEnd = activity.latest.advanced(by: options.idleTimeout)
      try await clock.sleep(until: min(idleEnd, end))
      if clock.now >= end { throw ImageSourceError.timedOut(after: options.totalTimeout) }
      if activity.latest.advanced(by: options.idleTimeout) <= clock.now {
        throw ImageSourceError.timedOut(after: options.idleTimeout)
      }
    }
  }
}

/// When something arrived last.
private final class Activity: Sendable {
  private let instant = Lock(ContinuousClock.now)

  var latest: ContinuousClock.Instant { instant.withLock { $0 } }

  func touch() { instant.withLock { $0 = .now } }
}
