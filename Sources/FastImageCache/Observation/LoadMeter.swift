import ImageSources

/// The figures of one load so far; pure.
struct LoadMeter: Sendable {
  var source = LoadFacts.Source()
  var attempts = 0
  var fetchedByteCount = 0
  /// By the clock.
  var (wait, fetch, store) = (Duration.zero, Duration.zero, Duration.zero)
  /// `nil` before a request to a web server has ended.
  var network: NetworkDurations?
  /// Of the processor.
  var (decode, draw) = (Duration.zero, Duration.zero)
  /// When it was shown, by ``Swift/ContinuousClock/Instant/ofProcess``.
  var firstPreview: Duration?

  /// Takes what a step tells that is told to listeners too.
  mutating func note(_ step: ImageProgress) {
    switch step {
    case .retrying: attempts += 1
    case .arrived(let bytes): source.bytes = bytes
    default: break
    }
  }

  /// The source is asked now.
  ///
  /// - Parameter knowsOriginal: Whether about a kept original.
  mutating func ask(knowsOriginal: Bool) {
    attempts += 1
    (source.wasAsked, source.knewOriginal) = (true, knowsOriginal)
    // That of an answer that was no image.
    source.status = nil
  }
}

extension ContinuousClock.Instant {
  private static let origin = ContinuousClock.now

  /// The time since the process first asked for one: compilers know the layout of a duration, and that of an instant
  /// only the runtime, which would move all that a load notes, value by value.
  var ofProcess: Duration { self - Self.origin }
}
