import Foundation
import Locking

/// Fetches over https and http.
///
/// The client follows redirects itself, since the system would carry credentials along to other hosts.
/// It keeps the time limits itself, since they count for all requests of a load together.
final class HTTPClient: Sendable {
  private let options: HTTPOptions
  private let policy: HTTPPolicy
  private let hosts: HostGates
  private let connections: HTTPConnections
  private let clock: any PatienceClock

  init(options: HTTPOptions, clock: any PatienceClock) {
    var options = options
    options.connectionsPerHost = max(1, options.connectionsPerHost)
    options.redirectLimit = max(0, options.redirectLimit)
    self.options = options
    policy = HTTPPolicy(allowsInsecureHTTP: options.allowsInsecureHTTP)
    hosts = HostGates(width: options.connectionsPerHost)
    connections = HTTPConnections(options: options)
    self.clock = clock
  }

  /// Requests that wait for their turn with a host at this moment.
  var waitingRequestCount: Int { hosts.counts.waiting }

  /// Fetches one body.
  ///
  /// - Throws: ``ImageSourceError``, what ``HTTPOptions/modifyRequest`` throws, and
  ///   `CancellationError` as soon as the task is cancelled.
  func body(
    of request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
  ) async throws -> Data {
    let activity = Activity(options, clock)
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
      let httpRequest = try await httpRequest(for: url, askedBy: request.firstEntity)
      let transfer = HTTPTransfer(byteCountLimit: request.byteCountLimit, progress: progress)
      activity.pause()
      let outcome = try await hosts.pass(
        for: httpRequest.url, urgency: request.urgency, permit: request.permit
      ) {
        activity.resume()
        return try await connections.outcome(
          of: httpRequest, priority: request.priority, transfer)
      }
      switch outcome {
      case .body(let body):
        return body
      case .redirect(let target):
        try policy.checkRedirect(from: httpRequest.url, to: target)
        url = target
      }
    }
    throw ImageSourceError.tooManyRedirects(limit: options.redirectLimit)
  }

  private func httpRequest(
    for url: URL, askedBy entity: ImageID?
  ) async throws -> HTTPRequest {
    try policy.check(url)
    var request = HTTPRequest(url: url)
    request.firstEntity = entity
    request.headers["Accept"] = "image/*"
    // Pictures are compressed already, and a plain body has a length that can be checked.
    request.headers["Accept-Encoding"] = "identity"
    request.headers["User-Agent"] = options.userAgent
    if let modify = options.modifyRequest {
      let ownNames = request.headers.keys
      request = try await modify(request)
      request.dropReplaced(ownNames)
      try policy.check(request.url)
    }
    try request.checkHeaders()
    return request
  }

  /// Ends by throwing as soon as one of the two time limits is over.
  private func watch(_ activity: Activity) async throws -> Never {
    while true {
      try await clock.sleep(until: activity.nextCheck, tolerance: nil)
      if let limit = activity.exceededLimit { throw ImageSourceError.timedOut(after: limit) }
    }
  }
}

/// A load's patience, shared by the task that loads and the task that watches the limits.
private final class Activity: Sendable {
  private let clock: any PatienceClock
  private let patience: Lock<HTTPPatience>

  init(_ options: HTTPOptions, _ clock: any PatienceClock) {
    self.clock = clock
    patience = Lock(
      HTTPPatience(
        idleTimeout: options.idleTimeout, totalTimeout: options.totalTimeout, now: clock.now))
  }

  var nextCheck: ContinuousClock.Instant { ask { $0.nextCheck($1) } }
  var exceededLimit: Duration? { ask { $0.exceededLimit($1) } }

  func touch() { ask { $0.touch($1) } }
  func pause() { ask { $0.pause($1) } }
  func resume() { ask { $0.resume($1) } }

  /// Passes the present time along, which is read outside the lock.
  private func ask<Answer>(
    _ question: (inout HTTPPatience, HTTPPatience.Instant) -> Answer
  ) -> Answer {
    let now = clock.now
    return patience.withLock { question(&$0, now) }
  }
}
