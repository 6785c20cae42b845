#if !canImport(Darwin)
  /// A bound on the bytes per second of several downloads together, as arithmetic on instants.
  ///
  /// Invariants:
  /// 1. Each piece costs a pause as long as its bytes take at the rate, and no piece is taken during a pause.
  ///    So any span of time brings at most what the rate allows, and one piece.
  /// 2. Downloads that were refused a piece are let on in the order of their refusals, each for one piece, before
  ///    others.
  struct CurlRateQueue<Download: Hashable> {
    typealias Instant = ContinuousClock.Instant

    private let byteRate: Int
    private var end: Instant
    private var line: [Download] = []
    /// Left the line last, and has not taken its piece.
    private var next: Download?

    /// - Parameter byteRate: Bytes per second, at least one.
    init(byteRate: Int, now: Instant) { (self.byteRate, end) = (byteRate, now) }

    /// Whether a download may take a piece of so many bytes now; it waits in the line otherwise.
    mutating func take(_ byteCount: Int, by download: Download, _ now: Instant) -> Bool {
      guard now >= end, line.isEmpty || next == download else {
        if !line.contains(download) { line.append(download) }
        return false
      }
      next = nil
      end = max(end, now) + .seconds(1) * byteCount / byteRate
      return true
    }

    /// Lets the first of the line take its piece; `nil` during a pause, and where nobody waits.
    mutating func letOn(_ now: Instant) -> Download? {
      guard now >= end, !line.isEmpty else { return nil }
      next = line.removeFirst()
      return next
    }

    /// The time until the next one is let on; `nil` where nobody waits.
    func pause(_ now: Instant) -> Duration? { line.isEmpty ? nil : max(.zero, end - now) }

    /// A download has ended.
    mutating func leave(_ download: Download) {
      line.removeAll { $0 == download }
      if next == download { next = nil }
    }
  }

  /// The rate queue of one source's exchanges, by their handles; for the thread of its loop.
  final class CurlPace {
    private var queue: CurlRateQueue<UnsafeMutableRawPointer>

    init(byteRate: Int) { queue = CurlRateQueue(byteRate: byteRate, now: .now) }

    func take(_ byteCount: Int, by easy: UnsafeMutableRawPointer) -> Bool {
      queue.take(byteCount, by: easy, .now)
    }

    func letOn() -> UnsafeMutableRawPointer? { queue.letOn(.now) }

    func leave(_ easy: UnsafeMutableRawPointer) { queue.leave(easy) }

    /// Milliseconds until the next one is let on, rounded up; the most where nobody waits.
    var timeout: CInt {
      guard let pause = queue.pause(.now) else { return .max }
      let (seconds, attoseconds) = pause.components
      return CInt(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
  }
#endif
