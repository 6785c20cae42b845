import ImageCodecs

/// Decides which stage of a file on its way is worth a preview, and when; pure.
///
/// | nothing is drawn | since |
/// |---|---|
/// | if the rest is due in ``shortWait`` at the rate so far | the image itself is as near |
/// | of a kind while there is a better one (``PreviewStage/Kind``) | nothing worse follows it |
///
/// How many previews there are, and from when on, is for ``LatestPreview`` to say, whose subscribers may want different
/// ones. How much of the processor all previews take together is the worker pool's to say.
struct PreviewPlan: Hashable, Sendable {
  /// A rest that comes so soon is waited for.
  static let shortWait = Duration.milliseconds(200)

  /// The first moment at which the bytes were watched, and how many there were.
  private let firstLook: ContinuousClock.Instant
  private let firstByteCount: Int
  private let total: Int?
  private let fetchStart: ContinuousClock.Instant
  /// Whether the first bytes were left by an earlier load.
  private let isResumed: Bool

  /// - Parameters:
  ///   - total: The announced number of all bytes.
  ///   - byteCount: How many bytes are there now.
  ///   - fetchStart: When the source was asked.
  init(
    total: Int?, isResumed: Bool, fetchStart: ContinuousClock.Instant, byteCount: Int,
    now: ContinuousClock.Instant
  ) {
    (self.total, self.isResumed, self.fetchStart) = (total, isResumed, fetchStart)
    (firstByteCount, firstLook) = (byteCount, now)
  }

  /// The time that counts for a delay.
  func elapsed(at now: ContinuousClock.Instant) -> Duration {
    isResumed ? .seconds(Int64.max) : now - fetchStart
  }

  /// The kind of which a stage is drawn now.
  ///
  /// - Parameters:
  ///   - kinds: Those of the stages that are there and wanted.
  ///   - byteCount: How many bytes are there now.
  func kind(
    of kinds: some Sequence<PreviewStage.Kind>, byteCount: Int, now: ContinuousClock.Instant
  ) -> PreviewStage.Kind? {
    isDueSoon(byteCount, now) ? nil : kinds.max()
  }

  private func isDueSoon(_ byteCount: Int, _ now: ContinuousClock.Instant) -> Bool {
    guard let total else { return false }
    let (arrived, rest) = (byteCount - firstByteCount, total - byteCount)
    if rest <= 0 { return true }
    // Before anything has come in some time there is no rate.
    guard arrived > 0, now > firstLook else { return false }
    return (now - firstLook) / Double(arrived) * Double(rest) <= Self.shortWait
  }
}
