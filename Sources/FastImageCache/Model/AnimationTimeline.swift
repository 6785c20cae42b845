/// Which frame of an animation is shown at which time; pure.
///
/// Invariants:
/// 1. There is at least one frame. Each is shown for a whole number of microseconds, from 1 to an hour's, so that a
///    timeline that was stored is the same when it is read.
/// 2. `ends` has the end of each frame within one loop, in rising order.
package struct AnimationTimeline: Hashable, Sendable {
  package let frameDurations: [Duration]

  /// How often the animation plays; `nil` for ever.
  package let loopCount: Int?

  private let ends: [Duration]

  /// The time that a frame is shown at most.
  private static let longest = Duration.seconds(3600)

  /// - Parameters:
  ///   - frameDurations: None is one frame that stays.
  ///   - loopCount: `nil` for ever.
  package init(frameDurations: [Duration], loopCount: Int?) {
    self.frameDurations =
      frameDurations.isEmpty
      ? [Self.longest]
      : frameDurations.map { duration in
        let count = (duration / .microseconds(1)).rounded()
        return min(.microseconds(Int64(min(max(count, 1), 1e10))), Self.longest)
      }
    self.loopCount = loopCount.map { min(max($0, 1), Int(UInt32.max)) }
    var end = Duration.zero
    ends = self.frameDurations.map { duration in
      end += duration
      return end
    }
  }

  package var frameCount: Int { frameDurations.count }

  /// The time of one loop.
  package var duration: Duration { ends[ends.count - 1] }

  /// The loops that are over at a time since the start, and the time since the present one began.
  package func loop(at time: Duration) -> (count: Int, time: Duration) {
    // Beyond a century, fewer loops than an integer and a double count are exact.
    let time = min(max(time, .zero), .seconds(1 << 32))
    let count = Int((time / duration).rounded(.down))
    // The quotient is rounded.
    return (count, max(time - duration * count, .zero))
  }

  /// The frame at a time since the start, and how long it is still shown; `nil` for ever.
  ///
  /// After the last loop the last frame stays. A time before the start is the start.
  package func frame(at time: Duration) -> (index: Int, rest: Duration?) {
    guard frameCount > 1 else { return (0, nil) }
    if let loopCount, time >= duration * loopCount { return (frameCount - 1, nil) }
    let (loops, within) = loop(at: time)
    var (low, high) = (0, frameCount - 1)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] > within { high = middle } else { low = middle + 1 }
    }
    let isLast = low == frameCount - 1 && loops + 1 == loopCount
    return (low, isLast ? nil : max(ends[low] - within, .microseconds(1)))
  }
}
