import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A hit", .timeLimit(.minutes(10)))
struct HitTests {
  /// A cache that has these images from an earlier session.
  private func reopened(with photos: [Photo]) async throws -> Fixture {
    let earlier = try await Fixture()
    for photo in photos { _ = try await earlier.image(photo) }
    await earlier.cache.close()
    return try await Fixture(directory: earlier.directory)
  }

  @Test("is what was loaded, awaited or not and in a later session, and asks no source")
  func returnsStoredImage() async throws {
    let first = try await Fixture()
    let photo = Photo("a", url: "test:/300")
    #expect(first.cache.cachedImage(for: photo, format: .row) == nil)
    #expect(first.source.started.value == 0)
    for _ in 0..<2 {
      let image = try await first.cache.image(for: photo, format: .row)
      #expect(image.solidNumber == 300 && !image.isPrivate)
      #expect(first.cache.cachedImage(for: photo, format: .row)?.solidNumber == 300)
    }
    #expect(first.source.started.value == 1)
    await first.cache.close()
    let second = try await Fixture(directory: first.directory)
    #expect(second.cache.cachedImage(for: photo, format: .row)?.solidNumber == 300)
    #expect(second.source.started.value == 0)
  }

  @Test("raises the rate of hits, of which a new cache has none")
  func raisesHitRate() async throws {
    let fixture = try await Fixture()
    #expect(await fixture.cache.statistics().hitRate == 0)
    for _ in 0..<4 { try await fixture.image(Photo("a", url: "test:/9")) }
    #expect(await fixture.cache.statistics().hitRate == 0.75)
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
    let photos = photos(1...4)
    let fixture = try await reopened(with: photos)
    let order = Order()
    func ask(_ image: () async throws -> CachedImage) async throws {
      let other = Task { @MainActor in order.note("other") }
      #expect(try await image().solidNumber != nil)
      order.note("image")
      await other.value
    }
    let conditions = LoadOptions(priority: RequestPriority(.low))
    for _ in 0..<2 {
      try await ask { try await fixture.cache.image(for: photos[0], format: .row) }
      try await ask {
        try await fixture.cache.image(for: photos[1], format: .row, options: conditions)
      }
      try await ask { try await fixture.cache.load(photos[2], format: .row).image }
    }
    let suspending = Array(repeating: ["other", "image"], count: 3)
    #expect(order.notes == (suspending + suspending.map { $0.reversed() }).flatMap(\.self))
    // At once, whoever calls.
    #expect(fixture.cache.cachedImage(for: photos[3], format: .row)?.solidNumber == 4)
    #expect(fixture.source.started.value == 0)
    let statistics = await fixture.cache.statistics()
    #expect(statistics.hits == 7 && statistics.misses == 0)
  }

  @Test("of an earlier session that a cancelled task asks for is no miss")
  func isNoMissWhenCancelled() async throws {
    let photo = Photo("a", url: "test:/9")
    let cache = try await reopened(with: [photo]).cache
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: ImageCacheError.cancelled) {
        _ = try await cache.image(for: photo, format: .row)
      }
      await #expect(throws: ImageCacheError.cancelled) {
        _ = try await cache.load(photo, format: .row)
      }
    }.value
    #expect(await cache.statistics().misses == 0)
  }

  @Test("of an earlier session is not shown where its task was cancelled while it was read")
  @MainActor func isNotShownWhenCancelled() async throws {
    let photos = photos(1...2)
    let cache = try await reopened(with: photos).cache
    for (photo, isReported) in zip(photos, [false, true]) {
      let task = Task { @MainActor in
        isReported
          ? try await cache.load(photo, format: .row).image
          : try await cache.image(for: photo, format: .row)
      }
      // Queued behind the task's beginning; the task cannot go on while this holds the main actor.
      Task { @MainActor in
        while case .unverified = cache.find(photo, format: .row) { sched_yield() }
        task.cancel()
      }
      await #expect(throws: ImageCacheError.cancelled) { _ = try await task.value }
    }
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

@Suite("An image's id", .timeLimit(.minutes(10)))
struct ImageIDTests {
  @Test("finds the image of any version, or of the one that is asked for, in a later session too")
  func findsVersions() async throws {
    let first = try await Fixture([.row, .large])
    try await first.cache.store(solid(1), for: Photo("a", version: 2), format: .row)
    for isLater in [false, true] {
      if isLater { await first.cache.close() }
      let cache =
        isLater
        ? try await Fixture([.row, .large], directory: first.directory).cache : first.cache
      #expect(cache.containsImage(for: "a", format: .row))
      #expect(cache.containsImage(for: "a", version: 2, format: .row))
      #expect(!cache.containsImage(for: "a", version: 1, format: .row))
      #expect(!cache.containsImage(for: "a", format: .large))
      #expect(!cache.containsImage(for: "b", format: .row))
      #expect(!cache.containsImage(for: "a", format: .dot))
    }
  }

  @Test("removes the image, of one format or of all, whatever its version, and no other's")
  func removes() async throws {
    let fixture = try await Fixture([.row, .large])
    let photos = [Photo("a", version: 2), Photo("b")]
    for photo in photos {
      try await fixture.cache.store(solid(1), for: photo, format: .row)
      try await fixture.cache.store(solid(1), for: photo, format: .large)
    }
    try await fixture.cache.removeImage(for: "a", format: .row)
    #expect(fixture.cache.cachedFormats(for: photos[0]) == [.large])
    try await fixture.cache.removeImages(for: "a")
    #expect(fixture.cache.cachedFormats(for: photos[0]).isEmpty)
    #expect(fixture.cache.cachedFormats(for: photos[1]) == [.row, .large])
    await #expect(throws: ImageCacheError.unknownFormat("dot")) {
      try await fixture.cache.removeImage(for: "a", format: .dot)
    }
  }

  @Test(
    "survives being coded, kind and all",
    arguments: [
      "a", "", "7", 7, -7, ImageID(UInt64.max), ImageID(UUID()), ImageID("\(UUID())"),
    ] as [ImageID])
  func isCodable(id: ImageID) throws {
    #expect(try JSONDecoder().decode(ImageID.self, from: JSONEncoder().encode(id)) == id)
    let list = try PropertyListEncoder().encode([id])
    #expect(try PropertyListDecoder().decode([ImageID].self, from: list) == [id])
  }

  @Test("is refused where nothing names its kind")
  func refusesOtherCodes() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ImageID.self, from: Data(#"{"number": 7}"#.utf8))
    }
  }
}
