import Foundation
import LoadQueue
import Locking

/// One load over http: its requests, its pauses and its time limits.
///
/// Invariants:
/// 1. One request is under way at a time, and none during a pause.
/// 2. `transfer` is that of the last request that was sent for the present attempt.
final class HTTPLoad: Sendable {
  private let client: HTTPClient
  private let request: ImageSourceRequest
  private let timer: LoadTimer
  private let transfer = Lock<HTTPTransfer?>(nil)

  init(_ client: HTTPClient, _ request: ImageSourceRequest) {
    self.client = client
    self.request = request
    timer = LoadTimer(client.options, client.clock)
  }

  /// Asks until there is an answer, or a reason to ask no more.
  ///
  /// - Throws: ``ImageSourceError``, what ``HTTPOptions/modifyRequest`` throws, and
  ///   `CancellationError` as soon as the task is cancelled.
  func response() async throws -> ImageSourceResponse {
    var resumes = client.options.resumes
    var condition = HTTPCondition(for: request.known, resumes: resumes)
    var byteCount = condition.firstByteCount
    var plan = RetryPlan(client.options.retry, byteCount: byteCount)
    var repetition = 0
    client.retries.withLock { $0.begin(HTTPHost(request.url)) }
    while true {
      do {
        return try await attempt(condition)
      } catch let failure as HTTPFailure {
        try Task.checkCancellation()
        repetition += 1
        // The server would refuse another continuation, too.
        if failure.remedy == .all { resumes = false }
        if failure.dropsBytes { dropBytes() }
        if failure.dropsBytes || failure.remedy == .all {
          (condition, byteCount) = (.all, 0)
        } else if let buffer = transfer.withLock({ $0?.buffer }) {
          var known = KnownOriginal(terms: buffer.terms, bytes: buffer.bytes, isWhole: false)
          known.earlierByteCount = buffer.earlierByteCount
          (condition, byteCount) = (HTTPCondition(for: known, resumes: resumes), known.bytes.count)
        }
        let fraction = client.random()
        switch plan.decide(after: failure.remedy, byteCount: byteCount, fraction: fraction) {
        case .goOn(.zero): tell(.zero, before: repetition, byteCount)
        case .goOn(let pause): try await wait(pause, before: repetition, byteCount)
        case .retry(let pause)
        where client.retries.withLock({ $0.takeRetry(HTTPHost(request.url)) }):
          try await wait(pause, before: repetition, byteCount)
        case .fail, .retry: throw failure.error
        }
      }
    }
  }

  private func tell(_ pause: Duration, before repetition: Int, _ byteCount: Int) {
    var step = ImageSourceProgress(receivedByteCount: byteCount)
    step.retry = ImageSourceProgress.Retry(attempt: repetition, pause: pause)
    request.report(step)
  }

  private func wait(
    _ pause: Duration, before repetition: Int, _ byteCount: Int
  ) async throws {
    tell(pause, before: repetition, byteCount)
    // A pause of half a minute would hold up other loads. What has arrived stays, and no limiter bounds it.
    request.permit?.giveUp()
    try await client.clock.sleep(until: client.clock.now.advanced(by: pause), tolerance: nil)
    // The pause counts; the request that follows it would be asked for in vain.
    if case .total(let limit)? = timer.exceededLimit {
      throw ImageSourceError.timedOut(after: limit)
    }
  }

  /// Tells whoever keeps what arrives that there is nothing to keep.
  private func dropBytes() { _ = request.begin(ResponseMetadata(received: Date())) }

  /// Sends one request, and those that it is redirected to.
  ///
  /// - Throws: ``HTTPFailure`` where another attempt may help, and what ``response()`` throws.
  private func attempt(_ condition: HTTPCondition) async throws -> ImageSourceResponse {
    transfer.withLock { $0 = nil }
    // Otherwise the silence of a pause, or of the attempt before, ends this one before it sends.
    timer.resume(with: condition.firstByteCount)
    do {
      return try await withThrowingTaskGroup(of: ImageSourceResponse.self) { group in
        group.addTask { try await self.followRedirects(condition) }
        group.addTask { try await self.watch() }
        defer { group.cancelAll() }
        guard let response = try await group.next() else { throw CancellationError() }
        return response
      }
    } catch var failure as HTTPFailure {
      let last = transfer.withLock { $0 }
      guard case .timedOut = failure.error else { throw failure }
      // A body that is complete counts, whatever fault follows.
      if let buffer = last?.completeBuffer { return response(of: buffer) }
      if failure.remedy != .none, last?.lacksAnswerToRange == true { failure.remedy = .all }
      throw failure
    }
  }

  private func followRedirects(_ condition: HTTPCondition) async throws -> ImageSourceResponse {
    var url = request.url
    for _ in 0...client.options.redirectLimit {
      let httpRequest = try await client.httpRequest(for: url, condition, of: request)
      timer.pause()
      // A load that waits for its host holds no permit, so that a host that does not answer takes no more
      // permits than connections. The permit is waited for behind the host, never in front of it.
      let willWait = { [request] in request.permit?.giveUp() ?? () }
      let outcome = try await client.hosts.withPermit(
        for: httpRequest.url, urgency: request.urgency, willWait: willWait
      ) {
        try await request.acquirePermit(.network)
        timer.resume()
        return try await client.connections.outcome(
          of: httpRequest, priority: request.priority, avoiding: request.avoids,
          makeTransfer(condition.sent(to: httpRequest.url)))
      }
      switch outcome {
      case .arrived(let buffer): return response(of: buffer)
      case .unchanged(let terms): return .unchanged(terms.answering(request))
      case .redirect(let target):
        try client.policy.checkRedirect(from: httpRequest.url, to: target)
        // It has its answer, whatever the next one lacks.
        transfer.withLock { $0 = nil }
        url = target
      }
    }
    throw ImageSourceError.tooManyRedirects(limit: client.options.redirectLimit)
  }

  private func makeTransfer(_ condition: HTTPCondition) -> HTTPTransfer {
    let next = HTTPTransfer(
      HTTPExchange(condition, byteCountLimit: request.byteCountLimit),
      begin: { [request] terms, known in
        request.begin(terms.answering(request), continuing: known)
      },
      report: { [timer, request] step in
        timer.touch(step.receivedByteCount)
        request.report(step)
      }, measure: { [request] in request.measure?($0) })
    transfer.withLock { $0 = next }
    return next
  }

  /// Bytes for callers that cannot keep a buffer.
  private func response(of buffer: DownloadBuffer) -> ImageSourceResponse {
    request.makeBuffer == nil ? .encoded(buffer.bytes) : .arrived(buffer)
  }

  /// Ends by throwing as soon as one of the time limits is over.
  private func watch() async throws -> Never {
    while true {
      try await client.clock.sleep(until: timer.nextCheck, tolerance: nil)
      switch timer.exceededLimit {
      case nil: continue
      case .total(let limit)?: throw HTTPFailure(error: .timedOut(after: limit))
      case .idle(let limit)?, .rate(let limit)?:
        throw HTTPFailure(error: .timedOut(after: limit), remedy: .again())
      }
    }
  }
}

/// The timeouts of a load, shared by the task that loads and the task that watches them.
private final class LoadTimer: Sendable {
  private struct State {
    var timeouts: HTTPTimeouts
    var byteCount = 0
  }

  private let clock: any TimeoutClock
  private let state: Lock<State>

  init(_ options: HTTPOptions, _ clock: any TimeoutClock) {
    self.clock = clock
    state = Lock(State(timeouts: HTTPTimeouts(options, now: clock.now)))
  }

  var nextCheck: ContinuousClock.Instant { update { $0.timeouts.nextCheck($1) } }
  var exceededLimit: HTTPTimeouts.Limit? { update { $0.timeouts.exceededLimit($1) } }

  /// - Parameter byteCount: The bytes that are there now; fewer than before where an answer begins anew.
  func touch(_ byteCount: Int) {
    update { state, now in
      state.timeouts.touch(now, byteCount: max(0, byteCount - state.byteCount))
      state.byteCount = byteCount
    }
  }

  func pause() { update { $0.timeouts.pause($1) } }

  /// - Parameter byteCount: The bytes that need not come again, where an attempt begins.
  func resume(with byteCount: Int? = nil) {
    update { state, now in
      state.timeouts.resume(now)
      state.byteCount = byteCount ?? state.byteCount
    }
  }

  /// Reads the clock outside the lock.
  private func update<Value>(_ change: (inout State, HTTPTimeouts.Instant) -> Value) -> Value {
    let now = clock.now
    return state.withLock { change(&$0, now) }
  }
}

extension ResponseMetadata {
  /// These terms, which depend on the request if the server said so (`Vary`).
  fileprivate func answering(_ request: ImageSourceRequest) -> ResponseMetadata {
    var terms = self
    terms.recordRequest(request.headers)
    return terms
  }
}

/// The time limits of one load, as arithmetic on instants.
///
/// Invariants:
/// 1. Time between `pause` and `resume`, which a load spends queued for a host, does not count.
/// 2. `nextCheck` is never later than the first moment at which a limit can be over, in whatever order
///    the calls come until then. So a task that sleeps until `nextCheck` misses nothing.
/// 3. A span of time is judged by its rate only if bytes arrived in it. Silence is the idle limit's.
struct HTTPTimeouts: Sendable {
  typealias Instant = ContinuousClock.Instant

  enum Limit: Hashable, Sendable {
    case idle(Duration)
    case rate(Duration)
    case total(Duration)
  }

  /// Long enough for a phone in a lift.
  static let rateSpan = Duration.seconds(30)

  private struct Span {
    let start: Instant
    var byteCount: Int
  }

  private let idleTimeout: Duration
  private let totalTimeout: Duration?
  private let lowestByteRate: Int
  /// The time that counted before the last pause.
  private var spent = Duration.zero
  /// The moment since which time counts; `nil` during a pause.
  private var start: Instant?
  private var lastSign: Instant
  /// Begins with the first bytes after the last span, so that a server may think before it sends.
  private var span: Span?

  init(_ options: HTTPOptions, now: Instant) {
    // Otherwise a queued request would be polled in a tight loop.
    idleTimeout = max(options.idleTimeout, .milliseconds(1))
    (totalTimeout, lowestByteRate) = (options.totalTimeout, options.lowestByteRate)
    start = now
    lastSign = now
  }

  /// Notes that the server gave a sign, and how many bytes of a body came with it.
  mutating func touch(_ now: Instant, byteCount: Int = 0) {
    lastSign = max(lastSign, now)
    closeSpan(now)
    guard byteCount > 0, !isTooSlow(now) else { return }
    span = span ?? Span(start: now, byteCount: 0)
    span?.byteCount += byteCount
  }

  mutating func pause(_ now: Instant) {
    if let start { spent += now - start }
    start = nil
    span = nil
  }

  mutating func resume(_ now: Instant) {
    start = start ?? now
    span = nil
    touch(now)
  }

  /// The limit that is over, if one is.
  mutating func exceededLimit(_ now: Instant) -> Limit? {
    if let total = totalTimeout, counted(now) >= total { return .total(total) }
    guard start != nil else { return nil }
    closeSpan(now)
    if isTooSlow(now) { return .rate(Self.rateSpan) }
    return now - lastSign >= idleTimeout ? .idle(idleTimeout) : nil
  }

  func nextCheck(_ now: Instant) -> Instant {
    let idleEnd = (start == nil ? now : lastSign) + idleTimeout
    let totalEnd = totalTimeout.map { now + ($0 - counted(now)) }
    // Without a span the next one ends later than this.
    let spanEnd = lowestByteRate > 0 ? (span?.start ?? now) + Self.rateSpan : nil
    return [totalEnd, spanEnd].compactMap { $0 }.reduce(idleEnd, min)
  }

  private func counted(_ now: Instant) -> Duration {
    start.map { spent + (now - $0) } ?? spent
  }

  /// Whether the span is over and had too few bytes; no later byte mends that.
  private func isTooSlow(_ now: Instant) -> Bool {
    guard let span, now - span.start >= Self.rateSpan else { return false }
    return span.byteCount < lowestByteRate * Int(Self.rateSpan.components.seconds)
  }

  private mutating func closeSpan(_ now: Instant) {
    if let span, now - span.start >= Self.rateSpan, !isTooSlow(now) { self.span = nil }
  }
}
