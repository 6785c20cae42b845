import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A prefetch window", .timeLimit(.minutes(10)))
struct PrefetchWindowTests {
  private func photos(_ numbers: some Sequence<Int>) -> [Photo] {
    numbers.map { Photo(ImageID($0), url: "test:/\($0)") }
  }

  private func images(_ numbers: some Sequence<Int>, in fixture: Fixture) -> [Int?] {
    photos(numbers).map { fixture.cache.cachedImage(for: $0, format: .row)?.solidNumber }
  }

  @Test(
    "brings what enters it, in its order", arguments: [ImageCache.PrefetchDepth.disk, .memory])
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
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
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
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
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
