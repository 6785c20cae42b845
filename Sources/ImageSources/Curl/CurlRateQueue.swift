#if !canImport(Darwin)
  /// A bound on the bytes per second of several downloads together, for one thread.
  ///
  /// Invariants:
  /// 1. Each piece costs a pause as long as its bytes take at the rate, and no piece is taken during a pause.
  ///    So any span of time brings at most what the rate allows, and one piece.
  /// 2. Downloads that were refused a piece are let on in the order of their refusals, each for one piece, before
  ///    others.
  final class CurlRateQueue<Download: Hashable> {
    typealias Instant = ContinuousClock.Instant

    private let byteRate: Int
    private var end: Instant
    private var line: [Download] = []
    /// Left the line last, and has not taken its piece.
    private var next: Download?

    /// - Parameter byteRate: Bytes per second, at least one.
    init(byteRate: Int, now: Instant = .now) { (self.byteRate, end) = (byteRate, now) }

    /// Whether a download may take a piece of so many bytes now; it waits in the line otherwise.
    func take(_ byteCount: Int, by download: Download, _ now: Instant = .now) -> Bool {
      guard now >= end, line.isEmpty || next == download else {
        if !line.contains(download) { line.append(download) }
        return false
      }
      next = nil
      end = max(end, now) + .seconds(1) * byteCount / byteRate
      return true
    }

    /// Lets the first of the line take its piece; `nil` during a pause, and where nobody waits.
    func letOn(_ now: Instant = .now) -> Download? {
      guard now >= end, !line.isEmpty else { return nil }
      next = line.removeFirst()
      return next
    }

    /// The time until the next one is let on; `nil` where nobody waits.
    func pause(_ now: Instant) -> Duration? { line.isEmpty ? nil : max(.zero, end - now) }

    /// The time until then in milliseconds, rounded up; the most where nobody waits.
    var timeout: CInt {
      guard let (seconds, attoseconds) = pause(.now)?.components else { return .max }
      return CInt(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// A download has ended.
    func leave(_ download: Download) {
      line.removeAll { $0 == download }
      if next == download { next = nil }
    }
  }
#endif
