import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Changing an image's id", .timeLimit(.minutes(10)))
struct ChangingIDTests {
  private func photo(_ id: ImageID, version: ImageID = "v") -> Photo {
    Photo(id, version: version, url: "test:/9")
  }

  @Test("moves the images of all formats, draws none, and tells how many")
  func movesAll() async throws {
    let directory = try TemporaryDirectory()
    let fixture = try await Fixture([.row, .large, .dot], directory: directory)
    let caption = Data("by the sea".utf8)
    try await fixture.cache.store(solid(3), for: photo("draft"), format: .large, metadata: caption)
    let held = try #require(fixture.cache.cachedImage(for: photo("draft"), format: .large))
    let drawings = await fixture.cache.statistics().drawings
    let events = fixture.cache.events()
    #expect(try await fixture.cache.moveImages(from: "draft", to: 42) == 2)
    #expect(try await fixture.cache.moveImages(from: "draft", to: 42) == 0)
    #expect(await fixture.cache.statistics().drawings == drawings)
    #expect(held.solidNumber == 3)
    let moved = fixture.cache.cachedImage(for: photo(42), format: .large)
    #expect(moved?.solidNumber == 3 && moved?.metadata == caption)
    #expect(fixture.cache.cachedFormats(for: photo(42)).map(\.name) == ["large", "dot"])
    #expect(fixture.cache.cachedFormats(for: photo("draft")).isEmpty)
    await fixture.cache.close()
    var told: [String] = []
    for await event in events {
      switch event {
      case .stored(let entity, let format): told.append("stored \(entity) \(format)")
      case .removed(let entity?, let format): told.append("removed \(entity) \(format)")
      default: break
      }
    }
    let expected = ["large", "dot"].flatMap { ["stored 42 \($0)", "removed draft \($0)"] }
    #expect(told == expected)
    let later = try await Fixture([.row, .large, .dot], directory: directory)
    #expect(later.cache.cachedImage(for: photo(42), format: .large)?.solidNumber == 3)
  }

  @Test("replaces the new id's image, and does nothing from an id to itself")
  func replaces() async throws {
    let fixture = try await Fixture()
    let held = try await fixture.cache.store(solid(1), for: photo("new"), format: .row)
    try await fixture.cache.store(solid(2), for: photo("old"), format: .row)
    #expect(try await fixture.cache.moveImages(from: "old", to: "old") == 0)
    #expect(try await fixture.cache.moveImages(from: "old", to: "new") == 1)
    #expect(fixture.cache.cachedImage(for: photo("new"), format: .row)?.solidNumber == 2)
    #expect(held.solidNumber == 1)
  }

  @Test("keeps loads of the old id from storing; later ones start anew", arguments: [true, false])
  func forbidsOldLoads(hasImage: Bool) async throws {
    let (fixture, gate) = try await Fixture.gated()
    // A load of another version than that in the table.
    let newer = photo("old", version: "w")
    if hasImage { try await fixture.cache.store(solid(1), for: photo("old"), format: .row) }
    let waiting = Task { try await fixture.image(newer) }
    await fixture.source.started.reaches(1)
    #expect(try await fixture.cache.moveImages(from: "old", to: "new") == (hasImage ? 1 : 0))
    let later = hasImage ? Task { try await fixture.image(newer) } : nil
    await fixture.source.started.reaches(hasImage ? 2 : 1)
    gate.open()
    #expect(try await waiting.value.solidNumber == 9)
    _ = try await later?.value
    await fixture.quiet()
    let moved = fixture.cache.cachedImage(for: photo("new"), format: .row)
    #expect(moved?.solidNumber == (hasImage ? 1 : nil))
    #expect(fixture.cache.containsImage(for: newer, format: .row) == hasImage)
  }

  @Test("keeps loads of the new id from storing over a moved image, and only there")
  func forbidsNewLoads() async throws {
    let (fixture, gate) = try await Fixture.gated([.row, .large])
    try await fixture.cache.store(solid(1), for: photo("old"), format: .row)
    let newer = photo("new", version: "w")
    let row = Task { try await fixture.image(newer) }
    let large = Task { try await fixture.image(newer, .large) }
    await fixture.subscribers(2)
    #expect(try await fixture.cache.moveImages(from: "old", to: "new") == 1)
    gate.open()
    _ = try await (row.value, large.value)
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: photo("new"), format: .row)?.solidNumber == 1)
    #expect(fixture.cache.containsImage(for: newer, format: .large))
  }

  /// What a load from before brings is older, and not stored over a picture by hand.
  @Test(
    "has later requests of the new id join no load of its URL that is under way",
    arguments: [true, false])
  func forbidsSharedLoads(isByHand: Bool) async throws {
    let (fixture, gate) = try await Fixture.gated()
    let asked = Counter()
    var other = photo("other")
    other.ownImage = { _ in
      asked.increment()
      try await gate.pass()
      return nil
    }
    let options = LoadOptions(isByHand ? .reload : .useCache)
    let load = Task { [other] in try await fixture.image(other, .row, options) }
    await asked.reaches(1)
    if isByHand {
      try await fixture.cache.store(solid(1), for: photo("old"), format: .row)
    } else {
      try await fixture.cache.removeImages(for: "old")
    }
    try await fixture.cache.moveImages(from: "old", to: "new")
    let later = Task { try await fixture.image(photo("new"), .row, options) }
    await fixture.subscribers(2)
    gate.open()
    _ = try await (load.value, later.value)
    await fixture.quiet()
    #expect(fixture.source.started.value == 2)
    #expect(fixture.cache.cachedImage(for: photo("new"), format: .row)?.solidNumber == 9)
  }

  @Test("fails where no slot is free, and keeps the image; a closed cache has none")
  func fails() async throws {
    let format = ImageFormat.row.with(capacity: 1)
    let fixture = try await Fixture([format])
    let held = try await fixture.cache.store(solid(1), for: photo("old"), format: format)
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.moveImages(from: "old", to: "new")
    }
    #expect(fixture.cache.containsImage(for: photo("old"), format: format))
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.closed) {
      try await fixture.cache.moveImages(from: "old", to: "new")
    }
    withExtendedLifetime(held) {}
  }
}
