/// An image with all its frames, ready to be played; an image that does not move has one.
///
/// ```swift
/// let animation = try await cache.animation(for: photo, format: .row)
/// let frame = animation.frame(atTime: .seconds(1.2))
/// show(frame.image)
/// ```
///
/// It is a lease on the slots of its frames: keep it as long as the animation is on screen and no longer. A copy costs
/// one reference count, and the pixels stay in the mapped file.
public struct CachedAnimation: Sendable {
  /// One frame.
  public struct Frame: Sendable {
    /// The pixels: this frame's, or those of the nearest earlier one that is ready.
    public let image: CachedImage

    /// The frame's place in the animation, from 0.
    public let index: Int

    /// How long the frame is shown. Delays below 11 ms count as 100 ms, as in browsers.
    public let duration: Duration

    /// Whether ``image`` is this frame.
    public let isReady: Bool
  }

  let frames: any AnimationFrames

  package var timeline: AnimationTimeline { frames.timeline }

  /// How many frames there are, 1 for an image that does not move.
  public var frameCount: Int { timeline.frameCount }

  /// How often the animation plays; `nil` for ever.
  public var loopCount: Int? { timeline.loopCount }

  /// The time of one loop; an hour for an image that does not move.
  public var duration: Duration { timeline.duration }

  /// Whether frames are decoded while the animation plays, since its format's table does not keep them.
  public var isStreamed: Bool { frames.isStreamed }

  /// Whether a frame was lost, or could not be decoded, after the animation was handed out. The cache loads a lost
  /// frame anew where it is asked; a streamed animation breaks at the same frame again, since its file is at fault.
  public var isBroken: Bool { frames.isBroken }

  /// The first frame.
  public var image: CachedImage { frames.first }

  /// A frame, or the nearest earlier one that is ready.
  ///
  /// Cost: a look under a lock. A streamed animation begins to decode the frames that follow.
  ///
  /// - Parameter index: From 0; a programming mistake beyond ``frameCount``.
  public func frame(at index: Int) -> Frame {
    precondition((0..<frameCount).contains(index), "A frame of the animation is asked for.")
    let (image, shown) = frames.frame(at: index)
    return Frame(
      image: image, index: index, duration: timeline.frameDurations[index], isReady: shown == index)
  }

  /// The frame that is shown at a time since the start, after ``loopCount`` loops the last one.
  public func frame(atTime time: Duration) -> Frame { frame(at: timeline.frame(at: time).index) }
}

extension CachedAnimation: Equatable {
  /// Whether both are leases on the same first frame.
  public static func == (first: CachedAnimation, second: CachedAnimation) -> Bool {
    first.image == second.image
  }
}

/// Where the frames of an animation are.
protocol AnimationFrames: AnyObject, Sendable {
  var timeline: AnimationTimeline { get }
  var first: CachedImage { get }
  var isStreamed: Bool { get }
  var isBroken: Bool { get }

  /// The frame, or the nearest earlier one that is ready, and its index.
  func frame(at index: Int) -> (image: CachedImage, index: Int)
}

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
