import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("An original that several entities share", .timeLimit(.minutes(10)))
struct OriginalHookTests {
  enum Answer: CaseIterable { case stores, delivers, fails }

  @Test(
    "is kept only if the hook forbids none of them to be stored",
    arguments: Answer.allCases, Answer.allCases)
  func asksForAll(first: Answer, second: Answer) async throws {
    let (originals, gate) = (MemoryOriginals(), CancellableGate())
    let source = EncodedSource(gate: gate)
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.willStore = { try Self.answer($0.imageID == "a" ? first : second, &$0) }
    }
    let loads = [ImageID("a"), "b"].map { id in
      Task { try await fixture.cache.image(for: Photo(id, url: "test:/7"), format: .row) }
    }
    await fixture.subscribers(2)
    gate.open()
    for load in loads { _ = await load.result }
    await fixture.quiet()
    #expect(source.started.value == 1)
    #expect((originals["test:/7"] != nil) == (first == .stores && second == .stores))
  }

  @Test(
    "is kept only if the hook forbids none, although one was asked about later",
    arguments: Answer.allCases, Answer.allCases)
  func asksForLater(first: Answer, second: Answer) async throws {
    let (originals, asked, gate) = (MemoryOriginals(), Counter(), Gate())
    let source = EncodedSource()
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.willStore = { image in
        asked.increment()
        gate.waitBlocking()
        try Self.answer(image.imageID == "a" ? first : second, &image)
      }
    }
    func load(_ id: ImageID) -> Task<CachedImage, any Error> {
      Task { try await fixture.cache.image(for: Photo(id, url: "test:/7"), format: .row) }
    }
    // The first waits for the hook when the second joins.
    let earlier = load("a")
    await asked.reaches(1)
    let later = load("b")
    await fixture.subscribers(2)
    gate.open()
    _ = await (earlier.result, later.result)
    await fixture.quiet()
    // What was kept for the first goes again.
    if first == .stores, second != .stores { await originals.dropped.reaches(1) }
    #expect(source.started.value == 1)
    #expect((originals["test:/7"] != nil) == (first == .stores && second == .stores))
  }

  private static func answer(_ answer: Answer, _ image: inout StoredImage) throws {
    switch answer {
    case .stores: break
    case .delivers: image.storage = .doNotStore
    case .fails: throw HookError()
    }
  }
}
