/// The time limits of one load, as arithmetic on instants.
///
/// Invariants:
/// 1. Time between `pause` and `resume`, which a load spends queued for a host, does not count.
/// 2. `nextCheck` is never later than the first moment at which a limit can be over, in whatever order
///    the calls come until then. So a task that sleeps until `nextCheck` misses nothing.
/// 3. A span of time is judged by its rate only if bytes arrived in it. Silence is the idle limit's.
struct HTTPTimeouts: Sendable {
  typealias Instant = ContinuousClock.Instant

  struct Limits: Sendable {
    var idleTimeout: Duration
    /// `nil` for no limit.
    var totalTimeout: Duration?
    /// Bytes per second, on the average of ``rateSpan``; 0 for no limit.
    var lowestByteRate = 0
  }

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

  private let limits: Limits
  /// The time that counted before the last pause.
  private var spent = Duration.zero
  /// The moment since which time counts; `nil` during a pause.
  private var start: Instant?
  private var lastSign: Instant
  /// Begins with the first bytes after the last span, so that a server may think before it sends.
  private var span: Span?

  init(_ limits: Limits, now: Instant) {
    var limits = limits
    // Otherwise a queued request would be polled in a tight loop.
    limits.idleTimeout = max(limits.idleTimeout, .milliseconds(1))
    self.limits = limits
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
    if let total = limits.totalTimeout, counted(now) >= total { return .total(total) }
    guard start != nil else { return nil }
    closeSpan(now)
    if isTooSlow(now) { return .rate(Self.rateSpan) }
    return now - lastSign >= limits.idleTimeout ? .idle(limits.idleTimeout) : nil
  }

  func nextCheck(_ now: Instant) -> Instant {
    let idleEnd = (start == nil ? now : lastSign) + limits.idleTimeout
    let totalEnd = limits.totalTimeout.map { now + ($0 - counted(now)) }
    // Without a span the next one ends later than this.
    let spanEnd = limits.lowestByteRate > 0 ? (span?.start ?? now) + Self.rateSpan : nil
    return [totalEnd, spanEnd].compactMap { $0 }.reduce(idleEnd, min)
  }

  private func counted(_ now: Instant) -> Duration {
    start.map { spent + (now - $0) } ?? spent
  }

  /// Whether the span is over and had too few bytes; no later byte mends that.
  private func isTooSlow(_ now: Instant) -> Bool {
    guard let span, now - span.start >= Self.rateSpan else { return false }
    return span.byteCount < limits.lowestByteRate * Int(Self.rateSpan.components.seconds)
  }

  private mutating func closeSpan(_ now: Instant) {
    if let span, now - span.start >= Self.rateSpan, !isTooSlow(now) { self.span = nil }
  }
}
