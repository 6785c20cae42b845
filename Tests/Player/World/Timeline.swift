import Locking

/// When each picture was the newest of its kind, by a clock that counts events.
final class Timeline: Sendable {
  private struct State {
    var now = 0
    /// The time at which each revision of a subject began.
    var revisions: [[Int]]
    /// The times at which each picture by hand was made, and at which its store had ended.
    var hands: [(start: Int, end: Int)] = []
  }

  private let state: Lock<State>

  init(subjectCount: Int) {
    // Five revisions passed before all begins: so that a planted fault has old ones.
    state = Lock(
      State(now: 6, revisions: Array(repeating: Array(0..<6), count: subjectCount)))
  }

  /// A time after all that was, and before all that comes.
  func tick() -> Int {
    state.withLock {
      $0.now += 1
      return $0.now
    }
  }

  func revision(of subject: Int) -> Int { state.withLock { $0.revisions[subject].count - 1 } }

  /// Changes a subject's picture.
  @discardableResult func change(_ subject: Int) -> Int {
    state.withLock {
      $0.now += 1
      $0.revisions[subject].append($0.now)
      return $0.revisions[subject].count - 1
    }
  }

  /// Begins revisions that another process tells of.
  func catchUp(_ revisions: [Int]) {
    for (subject, revision) in revisions.enumerated() {
      while self.revision(of: subject) < revision { change(subject) }
    }
  }

  /// A picture by hand that was never there.
  func makeHand(of subject: Int) -> Mark {
    state.withLock {
      $0.now += 1
      $0.hands.append(($0.now, .max))
      return Mark(subject: subject, revision: $0.hands.count - 1, maker: .hand)
    }
  }

  /// The store of a picture by hand has ended.
  func endHand(_ mark: Mark) {
    state.withLock {
      $0.now += 1
      $0.hands[mark.revision].end = $0.now
    }
  }

  /// The time until which a picture was the newest: `.max` for one that is, `nil` for one that never was.
  func end(of mark: Mark) -> Int? {
    state.withLock { state in
      if mark.maker == .hand {
        return state.hands.indices.contains(mark.revision) ? state.hands[mark.revision].end : nil
      }
      guard state.revisions.indices.contains(mark.subject) else { return nil }
      let starts = state.revisions[mark.subject]
      guard mark.revision < starts.count else { return nil }
      return mark.revision + 1 < starts.count ? starts[mark.revision + 1] : .max
    }
  }

  /// The time at which a picture became the newest.
  func start(of mark: Mark) -> Int {
    state.withLock {
      mark.maker == .hand
        ? $0.hands[mark.revision].start : $0.revisions[mark.subject][mark.revision]
    }
  }
}
