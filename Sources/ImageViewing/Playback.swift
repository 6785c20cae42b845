import FastImageCache

/// An animation that plays, for all places that show it together.
///
/// It begins with the first place and ends with the last: the places hold it, and `shared` does not.
@MainActor final class Playback {
  let animation: CachedAnimation
  private(set) var player: AnimationPlayer
  private var shown: (index: Int, frame: CachedAnimation.Frame)?

  private static var shared: [Int: Unheld] = [:]
  /// Those that are over leave `shared` when it has grown to this count.
  private static var roomCount = 64
  private struct Unheld { weak var playback: Playback? }

  private init(_ animation: CachedAnimation, _ player: AnimationPlayer) {
    (self.animation, self.player) = (animation, player)
  }

  /// The playback that other places show of this animation, or a new one.
  static func of(_ animation: CachedAnimation) -> Playback {
    // By the first frame, whose lease a key would keep.
    let key = animation.image.hashValue
    if let playback = shared[key]?.playback, playback.animation == animation,
      !playback.animation.isBroken
    {
      return playback
    }
    if shared.count >= roomCount {
      shared = shared.filter { $0.value.playback != nil }
      roomCount = max(64, 2 * shared.count)
    }
    let playback = Playback(animation, AnimationPlayer(animation.timeline))
    shared[key] = Unheld(playback: playback)
    return playback
  }

  /// A playback from the present frame on, which no other place shows.
  func ownCopy(_ change: (inout AnimationPlayer) -> Void) -> Playback {
    let copy = Playback(animation, player)
    change(&copy.player)
    return copy
  }

  /// The frame to show, or the nearest earlier one that is ready.
  var frame: CachedAnimation.Frame {
    if let shown, shown.index == player.index, shown.frame.isReady { return shown.frame }
    let frame = animation.frame(at: player.index)
    shown = (player.index, frame)
    return frame
  }

  func tick(at now: Duration) -> Duration? {
    player.tick(at: now) { index in
      if let shown, shown.index == index, shown.frame.isReady { return true }
      let frame = animation.frame(at: index)
      if frame.isReady { shown = (index, frame) }
      return frame.isReady
    }
  }
}
