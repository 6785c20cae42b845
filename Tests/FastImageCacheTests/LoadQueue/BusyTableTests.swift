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
  private let gate = Gate()
  private let photo = Photo("a", url: "test:/7")

  @Test("has a load wait for its turn, and answers when the image is stored")
  func load() async throws {
    let fixture = try await Fixture()
    let table = try #require(fixture.cache.tables[.row])
    let holding = await table.hold(until: gate)
    let waiting = Task { try await fixture.cache.image(for: photo, format: .row) }
    while fixture.cache.recorder.counts.drawings == 0 { await Task.yield() }
    #expect(fixture.cache.recorder.counts.stores == 0)
    gate.open()
    let image = try await waiting.value
    #expect(image.solidNumber == 7 && !image.isPrivate)
    #expect(fixture.cache.recorder.counts.stores == 1)
    await holding.value
  }

  @Test("keeps no memory from a decode for another table")
  func givesBytesBack() async throws {
    let data = try solid(1, size: PixelSize(width: 64, height: 64)).pngData()
    let decoder = try #require(ImageDecoders.standard.first { $0.recognizes(data) })
    let need = decoder.workingByteCount(
      for: try decoder.header(of: data), minimumSize: PixelSize(width: 16, height: 16))
    let fixture = try await Fixture(
      [.row, .dot], source: ScriptedSource { _, _, _ in .encoded(data) }
    ) {
      $0.resources = LoadResources(decodeWidth: 2, decodeByteBudget: need * 3 / 2)
    }
    let table = try #require(fixture.cache.tables[.row])
    let holding = await table.hold(until: gate)
    let waiting = Task { try await fixture.cache.image(for: photo, format: .row) }
    while fixture.cache.recorder.counts.drawings == 0 { await Task.yield() }
    _ = try await fixture.cache.image(for: Photo("b", url: "test:/8"), format: .dot)
    gate.open()
    _ = try await waiting.value
    await holding.value
  }

  @Test("keeps the image that was stored by hand, not a load's that has its turn later")
  func byHandFirst() async throws {
    let fixture = try await Fixture { $0.resources = LoadResources(decodeWidth: 2) }
    let (cache, recorder) = (fixture.cache, fixture.cache.recorder)
    let table = try #require(cache.tables[.row])
    let holding = await table.hold(until: gate)
    async let stored = cache.store(solid(3), for: Photo("a", version: 1), format: .row)
    while recorder.counts.drawings == 0 { await Task.yield() }
    async let loaded = cache.image(for: Photo("a", version: 2, url: "test:/7"), format: .row)
    while recorder.counts.drawings == 1 { await Task.yield() }
    gate.open()
    let numbers = try await [stored.solidNumber, loaded.solidNumber]
    #expect(numbers == [3, 7])
    #expect(cache.containsImage(for: Photo("a", version: 1), format: .row))
    await holding.value
  }

  @Test("keeps no image that was removed while the load waited for its turn")
  func removal() async throws {
    let fixture = try await Fixture()
    let table = try #require(fixture.cache.tables[.row])
    let holding = await table.hold(until: gate)
    let waiting = Task { try await fixture.cache.image(for: photo, format: .row) }
    while fixture.cache.recorder.counts.drawings == 0 { await Task.yield() }
    // Waits for its turn behind the load, and takes the image away.
    let removing = Task { try await fixture.cache.removeImage(for: photo, format: .row) }
    gate.open()
    #expect(try await waiting.value.solidNumber == 7)
    try await removing.value
    #expect(!fixture.cache.containsImage(for: photo, format: .row))
    await holding.value
  }
}
