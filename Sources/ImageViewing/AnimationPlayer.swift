import FastImageCache

/// Decides which frame of an animation is shown at each tick of a window's clock; pure.
///
/// Views that show the same animation share one player, so that they show the same frame: whichever of them is asked
/// first moves it on, and the others follow in the same tick. A view that was paused or sought has one of its own.
///
/// Invariants:
/// 1. A tick moves on by one frame at most. So a main thread that stalls makes an animation late, and skips no frame.
/// 2. A tick moves on to a frame that is ready only. So an animation that is decoded too slowly is shown slower.
/// 3. `due` is there while the present frame is on screen, and is one duration of it and `lead` ahead at most, even if
///    the clock was set back.
struct AnimationPlayer: Sendable {
  /// A frame comes as much too early rather than a whole tick late: half of one at 120 Hz.
  private static let lead = Duration.milliseconds(4)

  let timeline: AnimationTimeline
  /// The frame to show.
  private(set) var index = 0
  private(set) var isPaused = false
  /// Loops that are over.
  private var loops = 0
  /// When the next frame's turn comes.
  private var due: Duration?

  init(_ timeline: AnimationTimeline) { self.timeline = timeline }

  /// Whether the last frame of the last loop is reached.
  var hasEnded: Bool {
    guard index + 1 == timeline.frameCount else { return false }
    return timeline.loopCount.map { loops + 1 >= $0 } ?? (index == 0)
  }

  /// - Parameters:
  ///   - now: By any clock that runs evenly; by the same one at each tick.
  ///   - isReady: Whether a frame can be shown; asked for the present and the next one at most.
  /// - Returns: How long nothing need be asked: not at all before the next tick, or, with `nil`, until the player is
  ///   told something else.
  mutating func tick(at now: Duration, isReady: (Int) -> Bool) -> Duration? {
    guard let due else {
      guard isReady(index) else { return .zero }
      return stay(from: now, until: now + timeline.frameDurations[index])
    }
    let bound = min(due, now + timeline.frameDurations[index] + Self.lead)
    if isPaused || hasEnded || bound - Self.lead > now { return stay(from: now, until: bound) }
    let next = (index + 1) % timeline.frameCount
    guard isReady(next) else { return .zero }
    if next == 0 { loops += 1 }
    index = next
    let end = bound + timeline.frameDurations[index]
    // The time that was lost is not caught up, and the next place that asks in this tick moves nothing on.
    let isLate = end - Self.lead <= now
    return stay(from: now, until: isLate ? now + timeline.frameDurations[index] : end)
  }

  private mutating func stay(from now: Duration, until end: Duration) -> Duration? {
    due = end
    return isPaused || hasEnded ? nil : max(end - Self.lead - now, .zero)
  }

  mutating func pause() { isPaused = true }

  /// Shows the present frame for its whole duration once more.
  mutating func resume() { (isPaused, due) = (false, nil) }

  /// Goes on with the frame at a time since the start, for the whole of its duration.
  mutating func seek(to time: Duration) {
    index = timeline.frame(at: time).index
    loops = timeline.loopCount.map { min(timeline.loop(at: time).count, $0 - 1) } ?? 0
    due = nil
  }
}
