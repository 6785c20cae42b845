import Locking

/// The animations of loads, on their way to the requests that wait for them, and the streamed ones that play: these
/// are shared by all that show them.
///
/// Invariants:
/// 1. An answer is kept only while a request for it waits.
/// 2. A streamed animation lives as long as somebody holds it.
final class AnimationAnswers: Sendable {
  private struct Waiting {
    var count = 0
    var answer: CachedAnimation?
  }

  private struct Playing {
    weak var frames: StreamedFrames?
  }

  private struct State {
    var waiting: [ImageKey: Waiting] = [:]
    var playing: [ImageKey: Playing] = [:]
  }

  private let state = Lock(State())

  /// Notes that a request begins to wait.
  func expect(_ key: ImageKey) {
    state.withLock { $0.waiting[key, default: Waiting()].count += 1 }
  }

  /// The answer for a request, which waits no more.
  func take(_ key: ImageKey) -> CachedAnimation? {
    state.withLock { state in
      guard var waiting = state.waiting[key] else { return nil }
      waiting.count -= 1
      state.waiting[key] = waiting.count == 0 ? nil : waiting
      return waiting.answer
    }
  }

  /// Gives the requests that wait their answer, before the load ends their wait.
  ///
  /// - Parameter makeAnswer: Called only if a request waits.
  func give(_ key: ImageKey, _ makeAnswer: () -> CachedAnimation) {
    guard state.withLock({ $0.waiting[key] != nil }) else { return }
    let answer = makeAnswer()
    state.withLock { state in
      state.waiting[key]?.answer = answer
      guard let frames = answer.frames as? StreamedFrames else { return }
      state.playing = state.playing.filter { $0.value.frames != nil }
      state.playing[key] = Playing(frames: frames)
    }
  }

  /// A streamed animation that plays, of this first frame.
  func playing(_ key: ImageKey, first: CachedImage) -> CachedAnimation? {
    let frames = state.withLock { $0.playing[key]?.frames }
    return frames.flatMap { $0.first == first ? CachedAnimation(frames: $0) : nil }
  }
}
