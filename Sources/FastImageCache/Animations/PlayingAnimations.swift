import Locking

/// The animations that are decoded while they play, shared by all that show them.
///
/// Invariant: an animation lives here as long as somebody holds it. Animations are released outside the lock, since
/// entities may end with them and run any code.
final class PlayingAnimations: Sendable {
  private struct Playing {
    weak var frames: StreamedFrames?
  }

  private let playing = Lock<[ImageKey: Playing]>([:])

  /// Makes an animation one that ``find(_:nonce:)`` finds.
  func add(_ key: ImageKey, _ frames: StreamedFrames) -> CachedAnimation {
    // Holds every animation until the lock is free again: the last reference to one may be this.
    var former: [StreamedFrames] = []
    playing.withLock { playing in
      playing = playing.filter { entry in
        entry.value.frames.map { former.append($0) } != nil
      }
      playing[key] = Playing(frames: frames)
    }
    return CachedAnimation(frames: frames)
  }

  /// The animation that plays of a first frame with this nonce.
  func find(_ key: ImageKey, nonce: UInt64) -> CachedAnimation? {
    let frames = playing.withLock { $0[key]?.frames }
    guard let frames, frames.nonce == nonce, !frames.isBroken else { return nil }
    return CachedAnimation(frames: frames)
  }
}
