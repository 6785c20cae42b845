import Locking

/// The animation that a load hands to one request before it answers it with the first frame.
final class AnimationAnswer: Sendable {
  private let given = Lock<CachedAnimation?>(nil)

  var animation: CachedAnimation? { given.withLock { $0 } }

  func give(_ animation: CachedAnimation) { given.withLock { $0 = animation } }
}
