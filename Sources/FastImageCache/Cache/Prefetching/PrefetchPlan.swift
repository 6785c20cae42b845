/// Decides which images of a window are brought, and when; pure.
///
/// Invariants:
/// 1. Each image of the window waits, is under way, or is over. One that left is none of these; when
///    it comes back it waits again.
/// 2. At most `width` turns are under way, and at most one of them has not begun. The next turn follows
///    when that one asks its source or is over, so images begin in the order of the window.
/// 3. No two turns have the same number. A turn that was given up changes nothing any more.
struct PrefetchPlan<Key: Hashable & Sendable>: Sendable {
  typealias Turn = Int

  private enum Stay {
    case waiting, over
    case underWay(Turn)
  }

  private let width: Int
  private var stays: [Key: Stay] = [:]
  /// The keys that wait, the most urgent first.
  private var queue: [Key] = []
  private var underWayCount = 0
  /// The turn that has not begun.
  private var starting: Turn?
  private var lastTurn = 0

  /// - Parameter width: Turns under way at a time.
  init(width: Int) { self.width = width }

  /// Makes the window consist of these images.
  ///
  /// - Parameter keys: The most urgent first; of equal ones the first counts.
  /// - Returns: The turns that are given up.
  mutating func move(to keys: [Key]) -> [Turn] {
    var before = stays
    (stays, queue) = ([:], [])
    for key in keys where stays[key] == nil {
      let stay = before.removeValue(forKey: key) ?? .waiting
      stays[key] = stay
      if case .waiting = stay { queue.append(key) }
    }
    return before.values.compactMap { stay in
      guard case .underWay(let turn) = stay else { return nil }
      free(turn)
      return turn
    }
  }

  /// The next image to be brought, and the number of its turn; `nil` while none may start.
  mutating func start() -> (key: Key, turn: Turn)? {
    guard starting == nil, underWayCount < width, !queue.isEmpty else { return nil }
    let key = queue.removeFirst()
    lastTurn += 1
    underWayCount += 1
    starting = lastTurn
    stays[key] = .underWay(lastTurn)
    return (key, lastTurn)
  }

  /// The turn's load asks its source.
  mutating func begin(_ turn: Turn) {
    if starting == turn { starting = nil }
  }

  /// The turn's image is there, or has failed.
  mutating func end(_ turn: Turn, of key: Key) {
    guard case .underWay(turn)? = stays[key] else { return }
    stays[key] = .over
    free(turn)
  }

  private mutating func free(_ turn: Turn) {
    underWayCount -= 1
    // A turn that ends before its load asks the source makes way for the next one, too.
    begin(turn)
  }
}
