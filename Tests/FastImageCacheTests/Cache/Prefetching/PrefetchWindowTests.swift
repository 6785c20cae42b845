import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A prefetch window", .timeLimit(.minutes(10)))
struct PrefetchWindowTests {
  private func images(_ numbers: some Sequence<Int>, in fixture: Fixture) -> [Int?] {
    photos(numbers).map { fixture.cache.cachedImage(for: $0, format: .row)?.solidNumber }
  }

  @Test("brings what enters it, in its order", arguments: [ImageCache.PrefetchDepth.disk, .memory])
  func bringsInOrder(depth: ImageCache.PrefetchDepth) async throws {
    let (order, loaded) = (Order(), Counter())
    let source = ScriptedSource { url, _, _ in
      order.note(url.lastPathComponent)
      return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
    }
    let fixture = try await Fixture(source: source) {
      $0.resources = LoadResources(localWidth: 1)
    }
    let window = PrefetchWindow<Photo>(fixture.cache, format: .row, depth: depth)
    let events = fixture.cache.events()
    window.move(to: photos([3, 1, 2, 1]))
    for await case .stored in events where loaded.increment() == 3 { break }
    #expect(order.notes == ["3", "1", "2"])
    #expect(images([1, 2, 3], in: fixture) == [1, 2, 3])
    withExtendedLifetime(window) {}
  }

  @Test("gives up what leaves it, and goes on with what stays")
  func givesUp() async throws {
    let (fixture, gate) = try await Fixture.gated()
    let window = PrefetchWindow<Photo>(fixture.cache, format: .row)
    window.move(to: photos([1, 2]))
    await fixture.source.started.reaches(2)
    window.move(to: photos([2, 3]))
    await fixture.source.cancelled.reaches(1)
    await fixture.source.started.reaches(3)
    gate.open()
    await fixture.quiet()
    #expect(images([1, 2, 3], in: fixture) == [nil, 2, 3])
    #expect(fixture.source.started.value == 3 && fixture.source.cancelled.value == 1)
    withExtendedLifetime(window) {}
  }

  @Test("takes and gives up single images")
  func insertsAndRemoves() async throws {
    let (fixture, gate) = try await Fixture.gated()
    let window = PrefetchWindow<Photo>(fixture.cache, format: .row)
    window.insert(photos([1]))
    window.insert(photos([2, 1]))
    await fixture.source.started.reaches(2)
    window.remove(photos([1, 7]))
    await fixture.source.cancelled.reaches(1)
    gate.open()
    await fixture.quiet()
    #expect(images([1, 2], in: fixture) == [nil, 2])
    #expect(fixture.source.started.value == 2)
    withExtendedLifetime(window) {}
  }

  @Test("that is released gives up everything")
  func endsWithOwner() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate)) {
      $0.resources = LoadResources(localWidth: 20)
    }
    do {
      let window = PrefetchWindow<Photo>(fixture.cache, format: .row)
      window.move(to: photos(1...12))
      await fixture.source.started.reaches(8)
      withExtendedLifetime(window) {}
    }
    await fixture.source.cancelled.reaches(8)
    await fixture.quiet()
    #expect(fixture.source.started.value == 8)
  }

  @Test("asks again for an image that failed when it comes back, and not before")
  func asksAgain() async throws {
    struct Broken: Error {}
    let source = ScriptedSource { url, call, _ in
      if call == 1 { throw Broken() }
      return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
    }
    let fixture = try await Fixture(source: source)
    let events = fixture.cache.events()
    let window = PrefetchWindow<Photo>(fixture.cache, format: .row)
    window.move(to: photos([1]))
    for await case .failed in events { break }
    window.move(to: photos([1, 2]))
    for await case .stored in events { break }
    #expect(source.started.value == 2)
    window.move(to: [])
    window.move(to: photos([1]))
    for await case .stored in events { break }
    #expect(images([1, 2], in: fixture) == [1, 2] && source.started.value == 3)
    withExtendedLifetime(window) {}
  }

  @Test("leaves out what the table has no slot for")
  func leavesOut() async throws {
    let format = ImageFormat.row.with(capacity: 4)
    let stored = Counter()
    let fixture = try await Fixture([format])
    let events = fixture.cache.events()
    let window = PrefetchWindow<Photo>(fixture.cache, format: format)
    window.move(to: photos(1...9))
    for await case .stored in events where stored.increment() == 4 { break }
    window.move(to: photos([1]))
    window.move(to: photos([1, 10]))
    for await case .stored in events { break }
    #expect(fixture.source.started.value == 5)
    withExtendedLifetime(window) {}
  }
}

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
