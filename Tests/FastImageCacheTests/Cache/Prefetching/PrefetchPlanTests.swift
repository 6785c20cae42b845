import Testing

@testable import FastImageCache

@Suite("The plan of a prefetch window", .timeLimit(.minutes(10)))
struct PrefetchPlanTests {
  private typealias Plan = PrefetchPlan<Character>

  private static let windows = ["", "a", "b", "ab", "ba", "abc", "cab", "abab"].map(Array.init)

  /// One event: what a list, or a turn, can say at any time.
  private enum Event {
    case move([Character])
    case start
    case begin(Int)
    case end(Int, Character)
  }

  /// The plan, and what an observer of its answers knows.
  private struct Play {
    var plan = Plan(width: 2)
    var window: [Character] = []
    /// All turns that were ever started, and the images that they bring.
    var turns: [Character] = []
    var underWay: Set<Int> = []
    var begun: Set<Int> = []
    /// Images of the window that were started since they entered it.
    var started: Set<Character> = []

    var events: [Event] {
      PrefetchPlanTests.windows.map(Event.move) + [.start]
        + turns.enumerated().flatMap { [.begin($0.offset + 1), .end($0.offset + 1, $0.element)] }
    }

    mutating func handle(_ event: Event) throws {
      switch event {
      case .move(let keys):
        let left = plan.move(to: keys)
        let expected = underWay.filter { !keys.contains(turns[$0 - 1]) }
        #expect(Set(left) == expected && left.count == expected.count)
        underWay.subtract(left)
        var seen: Set<Character> = []
        window = keys.filter { seen.insert($0).inserted }
        started.formIntersection(window)
      case .start:
        let next = window.first { !started.contains($0) }
        let mayStart = underWay.count < 2 && underWay.isSubset(of: begun) && next != nil
        let answer = plan.start()
        try #require((answer != nil) == mayStart)
        guard let (key, turn) = answer else { return }
        turns.append(key)
        #expect(key == next && turn == turns.count)
        underWay.insert(turn)
        started.insert(key)
      case .begin(let turn):
        plan.begin(turn)
        begun.insert(turn)
      case .end(let turn, let key):
        plan.end(turn, of: key)
        underWay.remove(turn)
      }
    }
  }

  @Test("starts each image once for each stay, in order, and gives up what left")
  func playsEverything() throws {
    var playCount = 0
    func go(on play: Play, _ depth: Int) throws {
      playCount += 1
      guard depth > 0 else { return }
      for event in play.events {
        var next = play
        try next.handle(event)
        try go(on: next, depth - 1)
      }
    }
    try go(on: Play(), 5)
    // The events of the first step, without a turn, at least.
    #expect(playCount > 50_000)
  }
}
