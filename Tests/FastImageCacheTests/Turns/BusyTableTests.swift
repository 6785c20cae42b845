import TestSupport
import Testing

@testable import FastImageCache

extension ImageTable {
  /// Keeps the actor's thread, from before this returns until the gate opens.
  fileprivate nonisolated func hold(until gate: Gate) async -> Task<Void, Never> {
    let isHeld = Counter()
    let holding = Task { await block(isHeld, until: gate) }
    await isHeld.reaches(1)
    return holding
  }

  private func block(_ isHeld: Counter, until gate: Gate) {
    isHeld.increment()
    gate.waitBlocking()
  }
}

@Suite("A busy table", .timeLimit(.minutes(10)))
struct BusyTableTests {
  @Test("lets nobody in beside the job that runs, and then whoever comes")
  func executor() async throws {
    let fixture = try await Fixture()
    let table = try #require(fixture.cache.tables[.row])
    let gate = Gate()
    let key = ImageKey(entity: "a", version: "a", format: ImageFormat.row.name)
    func store() throws -> CachedImage? {
      let slot = try table.drawSlot(for: key, size: ImageFormat.row.size) { bytes, _ in
        for index in bytes.indices { bytes[index] = 8 }
      }
      return try table.storeIfIdle(slot, for: key, fixture.cache.recorder) { true }
    }
    let holding = await table.hold(until: gate)
    #expect(try store() == nil)
    gate.open()
    await holding.value
    // The job is over a moment after its caller goes on.
    var stored = try store()
    while stored == nil {
      await Task.yield()
      stored = try store()
    }
    #expect(stored?.isPrivate == false && table.contains(key))
  }

  @Test("keeps a load's picture all the same, later")
  func load() async throws {
    let fixture = try await Fixture()
    let table = try #require(fixture.cache.tables[.row])
    let gate = Gate()
    let holding = await table.hold(until: gate)
    let waiting = Task {
      try await fixture.cache.image(for: Photo("a", url: "test:/7"), format: .row)
    }
    while fixture.cache.recorder.counts.drawings == 0 { await Task.yield() }
    #expect(fixture.cache.recorder.counts.stores == 0)
    gate.open()
    #expect(try await waiting.value.solidNumber == 7)
    #expect(fixture.cache.recorder.counts.stores == 1)
    await holding.value
  }

  @Test("keeps a picture that is stored by hand all the same, later")
  func byHand() async throws {
    let fixture = try await Fixture()
    let table = try #require(fixture.cache.tables[.row])
    let gate = Gate()
    let holding = await table.hold(until: gate)
    let storing = Task { try await fixture.cache.store(solid(7), for: Photo("a"), format: .row) }
    while fixture.cache.recorder.counts.drawings == 0 { await Task.yield() }
    gate.open()
    #expect(try await storing.value.solidNumber == 7)
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 7)
    await holding.value
  }
}
