import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A hit", .timeLimit(.minutes(10)))
struct HitTests {
  @Test("returns what was loaded, without asking the source again")
  func returnsStoredImage() async throws {
    let fixture = try await Fixture()
    let photo = Photo("a", url: "test:/300")
    let loaded = try await fixture.cache.image(for: photo, format: .row)
    let again = try await fixture.cache.image(for: photo, format: .row)
    #expect(loaded.solidNumber == 300 && again.solidNumber == 300)
    #expect(!loaded.isPrivate && !again.isPrivate)
    #expect(fixture.source.started.value == 1)
  }

  @Test("is there synchronously, and never loads")
  func isSynchronous() async throws {
    let fixture = try await Fixture()
    let photo = Photo("a", url: "test:/5")
    #expect(fixture.cache.cachedImage(for: photo, format: .row) == nil)
    #expect(fixture.source.started.value == 0)
    _ = try await fixture.cache.image(for: photo, format: .row)
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 5)
  }

  @Test("survives a new start of the program")
  func survivesReopen() async throws {
    let first = try await Fixture()
    let photo = Photo("a", url: "test:/7")
    _ = try await first.cache.image(for: photo, format: .row)
    await first.cache.close()
    let second = try await Fixture(directory: first.directory)
    #expect(second.cache.cachedImage(for: photo, format: .row)?.solidNumber == 7)
    #expect(second.source.started.value == 0)
  }

  @Test("does not suspend, from the main actor either")
  @MainActor func doesNotSuspend() async throws {
    let fixture = try await Fixture()
    let photo = Photo("a", url: "test:/9")
    _ = try await fixture.cache.image(for: photo, format: .row)
    let order = Order()
    // Queued behind this function on the main actor: it runs as soon as anything here suspends.
    let other = Task { @MainActor in order.note("other") }
    for _ in 0..<100 { _ = try await fixture.cache.image(for: photo, format: .row) }
    order.note("hits")
    await other.value
    #expect(order.notes == ["hits", "other"])
  }

  @Test("on an image of an earlier session suspends once, and is checked in a turn of its table")
  @MainActor func verifiesElsewhere() async throws {
    let first = try await Fixture()
    let photos = (1...3).map { Photo(ImageID($0), url: "test:/\($0)") }
    for photo in photos { _ = try await first.cache.image(for: photo, format: .row) }
    await first.cache.close()
    let fixture = try await Fixture(directory: first.directory)
    let order = Order()
    func ask(_ number: Int, options: LoadOptions? = nil) async throws {
      let other = Task { @MainActor in order.note("other") }
      if let options {
        _ = try await fixture.cache.image(
          for: photos[number], format: .row, options: options)
      } else {
        _ = try await fixture.cache.image(for: photos[number], format: .row)
      }
      order.note("image")
      await other.value
    }
    try await ask(0)
    try await ask(0)
    try await ask(1, options: LoadOptions(priority: RequestPriority(.low)))
    try await ask(1, options: LoadOptions(priority: RequestPriority(.low)))
    #expect(
      order.notes == ["other", "image", "image", "other", "other", "image", "image", "other"])
    // At once, whoever calls.
    #expect(fixture.cache.cachedImage(for: photos[2], format: .row)?.solidNumber == 3)
    #expect(fixture.source.started.value == 0)
    let statistics = await fixture.cache.statistics()
    #expect(statistics.hits == 5 && statistics.misses == 0)
  }

  @Test("raises the rate of hits, of which a new cache has none")
  func raisesHitRate() async throws {
    let fixture = try await Fixture()
    let (cache, photo) = (fixture.cache, Photo("a", url: "test:/9"))
    #expect(await cache.statistics().hitRate == 0)
    _ = try await cache.image(for: photo, format: .row)
    #expect(await cache.statistics().hitRate == 0)
    for _ in 0..<3 { _ = try await cache.image(for: photo, format: .row) }
    #expect(await cache.statistics().hitRate == 0.75)
  }

  @Test("needs the version of the source to agree")
  func needsVersion() async throws {
    let fixture = try await Fixture()
    _ = try await fixture.cache.image(for: Photo("a", version: 1, url: "test:/1"), format: .row)
    let newer = Photo("a", version: 2, url: "test:/1")
    #expect(!fixture.cache.containsImage(for: newer, format: .row))
    #expect(fixture.cache.cachedImage(for: newer, format: .row) == nil)
    // Asking for the newer one has not harmed the older.
    let older = Photo("a", version: 1, url: "test:/1")
    #expect(fixture.cache.cachedImage(for: older, format: .row) != nil)
  }

  @Test(
    "tells ids apart byte for byte",
    arguments: [
      ("a", "A"), ("\u{E9}", "e\u{301}"), ("", " "), ("1", 1), (1, -1),
      (ImageID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))), 1),
      (ImageID(UInt64.max), -1),
    ] as [(ImageID, ImageID)])
  func comparesExactly(stored: ImageID, asked: ImageID) async throws {
    let fixture = try await Fixture()
    _ = try await fixture.cache.image(
      for: Photo(stored, version: "v", url: "test:/1"), format: .row)
    #expect(fixture.cache.containsImage(for: Photo(stored, version: "v"), format: .row))
    #expect(!fixture.cache.containsImage(for: Photo(asked, version: "v"), format: .row))
  }
}
