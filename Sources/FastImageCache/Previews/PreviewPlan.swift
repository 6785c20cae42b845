/// Decides when a stage of a file on its way is worth a preview; pure.
///
/// | nothing is drawn | since |
/// |---|---|
/// | in the first ``PreviewPolicy/delay`` of a fetch | most pictures are whole by then |
/// | if the rest is due in ``shortWait`` at the rate so far | the picture itself is as near |
/// | after ``PreviewPolicy/limit`` previews | each costs a decode |
///
/// How much of the processor all previews take together is the worker pool's to say.
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

  /// Whether a stage that is there now is drawn.
  ///
  /// - Parameters:
  ///   - byteCount: How many bytes are there now.
  ///   - drawnCount: How many previews were drawn for whoever wants them.
  ///   - policy: The most that any of them wants.
  func draws(
    byteCount: Int, drawnCount: Int, policy: PreviewPolicy, now: ContinuousClock.Instant
  ) -> Bool {
    guard policy.wantsFrames, drawnCount < policy.limit, elapsed(at: now) >= policy.delay else {
      return false
    }
    guard let total else { return true }
    let (arrived, rest) = (byteCount - firstByteCount, total - byteCount)
    if rest <= 0 { return false }
    // Before anything has come in some time there is no rate.
    guard arrived > 0, now > firstLook else { return true }
    return (now - firstLook) / Double(arrived) * Double(rest) > Self.shortWait
  }
}
