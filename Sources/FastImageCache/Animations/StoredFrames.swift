import ImageSources
import LoadQueue
import Locking
import Pixels

/// The frames of an animation that have slots, leased.
///
/// Invariants:
/// 1. A frame that is in `frames` stays there: its slot is leased and was verified.
/// 2. One job at most looks for the frames that are missing, in their order.
/// 3. A frame that was there at first and is lost makes the animation broken. Its table has a miss then.
final class StoredFrames: AnimationFrames {
  private struct State {
    var frames: [CachedImage?]
    var isBroken = false
  }

  let timeline: AnimationTimeline
  let first: CachedImage
  private let state: Lock<State>

  var isStreamed: Bool { false }
  var isBroken: Bool { state.withLock { $0.isBroken } }

  /// An image that does not move.
  init(still image: CachedImage) {
    first = image
    timeline = AnimationTimeline(frameDurations: [], loopCount: 1)
    state = Lock(State(frames: [image]))
  }

  /// - Parameter rest: The frames behind the first; those of earlier sessions that were not verified are `nil`.
  init(_ timeline: AnimationTimeline, first: CachedImage, rest: [CachedImage?]) {
    (self.timeline, self.first) = (timeline, first)
    state = Lock(State(frames: [first] + rest))
  }

  func frame(at index: Int) -> (image: CachedImage, index: Int) {
    state.withLock { state in
      var index = index
      while index > 0 {
        if let image = state.frames[index] { return (image, index) }
        index -= 1
      }
      return (first, 0)
    }
  }

  /// Verifies the frames that were not yet, ahead of the player, on a worker.
  func verifyRest(
    of entity: ImageID, _ motion: StoredMotion, in table: ImageTable, _ workers: WorkerPool
  ) {
    Task(name: "verified frames") { [weak self] in
      do {
        try await workers.run(priority: .medium) { [weak self] _ in
          for index in 1..<motion.timeline.frameCount {
            // Nobody plays it any more.
            guard let self else { return }
            if self.state.withLock({ $0.frames[index] != nil }) { continue }
            let frame = table.frame(index, of: entity, motion, verifies: true)
            self.state.withLock { state in
              if frame == nil { state.isBroken = true }
              state.frames[index] = frame
            }
          }
        }
      } catch {
        self?.state.withLock { $0.isBroken = true }
      }
    }
  }
}

extension ImageTable {
  /// The animation of an image that the table has; `nil` if a frame behind it is missing.
  ///
  /// Frames that this process stored or verified are leased at once. A worker verifies the others.
  nonisolated func animation(
    of key: ImageKey, first: CachedImage, verifying workers: WorkerPool, _ recorder: CacheRecorder
  ) -> CachedAnimation? {
    switch first.motion {
    case .still: return CachedAnimation(frames: StoredFrames(still: first))
    case .unkept: return nil
    case .stored(let motion):
      guard motion.timeline.frameCount <= slotCount ?? 0 else { return nil }
      let rest = (1..<motion.timeline.frameCount).map {
        frame($0, of: key.entity, motion, verifies: false)
      }
      recorder.foundFrames(rest.count { $0 != nil })
      for (index, frame) in zip(1..., rest) where frame == nil {
        guard hasFrame(index, of: key.entity, motion) else { return nil }
      }
      let frames = StoredFrames(motion.timeline, first: first, rest: rest)
      if rest.contains(where: { $0 == nil }) {
        frames.verifyRest(of: key.entity, motion, in: self, workers)
      }
      return CachedAnimation(frames: frames)
    }
  }
}
