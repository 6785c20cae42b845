import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Removing", .timeLimit(.minutes(10)))
struct RemovalTests {
  @Test("an image forgets it and keeps it intact for whoever shows it")
  func keepsHeldPixels() async throws {
    let fixture = try await Fixture([.row, .large])
    let held = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    try await fixture.cache.store(solid(1), for: Photo("a"), format: .large)
    try await fixture.cache.removeImage(for: Photo("a"), format: .row)
    #expect(fixture.cache.cachedFormats(for: Photo("a")).map(\.name) == ["large"])
    for number in 2..<40 {
      try await fixture.cache.store(solid(number), for: Photo(ImageID(number)), format: .row)
    }
    #expect(held.solidNumber == 1)
  }

  @Test("an entity's images removes all formats")
  func removesAllFormats() async throws {
    let fixture = try await Fixture([.large, .dot])
    try await fixture.cache.store(solid(1), for: Photo("a"), format: .large)
    try await fixture.cache.store(solid(2), for: Photo("b"), format: .large)
    try await fixture.cache.removeImages(for: Photo("a"))
    #expect(fixture.cache.cachedFormats(for: Photo("a")).isEmpty)
    #expect(fixture.cache.cachedFormats(for: Photo("b")).count == 2)
  }

  @Test("everything empties the files and spares what is on screen")
  func removesEverything() async throws {
    let fixture = try await Fixture([.large, .row])
    var held: [CachedImage] = []
    for number in 0..<16 {
      held.append(
        try await fixture.cache.store(solid(number), for: Photo(ImageID(number)), format: .large))
    }
    let before = await fixture.cache.statistics().tables.map(\.diskByteCount).reduce(0, +)
    try await fixture.cache.removeAllImages()
    let statistics = await fixture.cache.statistics()
    #expect(statistics.tables.allSatisfy { $0.entryCount == 0 })
    #expect(statistics.tables.map(\.diskByteCount).reduce(0, +) < before)
    #expect(held.map(\.solidNumber) == Array(0..<16))
    let again = try await fixture.cache.store(solid(9), for: Photo("z"), format: .large)
    #expect(again.solidNumber == 9 && held.map(\.solidNumber) == Array(0..<16))
  }

  @Test("during a load answers the subscribers and stores nothing")
  func overtakesLoad() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture([.large, .dot], source: ScriptedSource(gate: gate))
    let photo = Photo("a", url: "test:/8")
    let waiting = Task { try await fixture.cache.image(for: photo, format: .large) }
    await fixture.source.started.reaches(1)
    try await fixture.cache.removeImages(for: photo)
    gate.open()
    #expect(try await waiting.value.solidNumber == 8)
    await fixture.quiet()
    #expect(fixture.cache.cachedFormats(for: photo).isEmpty)
  }

  @Test("during a load makes the next request ask the source anew")
  func startsAnew() async throws {
    let (first, second) = (CancellableGate(), CancellableGate())
    let fixture = try await Fixture(
      source: ScriptedSource { _, call, _ in
        try await (call == 1 ? first : second).pass()
        return .bitmap(try solid(call))
      })
    let photo = Photo("a")
    let old = Task { try await fixture.cache.image(for: photo, format: .row) }
    await fixture.source.started.reaches(1)
    try await fixture.cache.removeImage(for: photo, format: .row)
    let new = Task { try await fixture.cache.image(for: photo, format: .row) }
    await fixture.source.started.reaches(2)
    second.open()
    #expect(try await new.value.solidNumber == 2)
    first.open()
    #expect(try await old.value.solidNumber == 1)
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
  }

  @Test("during a load cannot come between the last look and the store")
  func asksOnTheTable() async throws {
    let fixture = try await Fixture([.large])
    let table = try #require(fixture.cache.tables[.large])
    let key = ImageKey(entity: "a", version: "a", format: ImageFormat.large.name)
    let slot = try table.drawSlot(for: key, size: PixelSize(width: 1, height: 1)) { bytes, _ in
      for index in bytes.indices { bytes[index] = 8 }
    }
    // Traps elsewhere: only on the table's own actor is nobody between this and the store.
    let isWanted: @Sendable () -> Bool = { table.assumeIsolated { _ in false } }
    let (image, isStored) = try table.store(
      slot, for: key, fixture.cache.recorder, .byHand(at: Generation.next()), oldest: { .max },
      if: isWanted)
    #expect(image.isPrivate && !isStored && !table.contains(key))
    #expect(fixture.cache.recorder.counts.stores == 0)
  }
}
