import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

@Suite("An image stored by hand under a hook", .timeLimit(.minutes(10)))
struct WillStoreByHandTests {
  private let photo = Photo("a", url: "test:/1")

  @Test("is changed with its metadata, in every format of the family")
  func isChanged() async throws {
    let seen = Order()
    let fixture = try await Fixture(
      [.large, .dot],
      willStore: { image in
        seen.note("\(image.origin) \(image.imageID ?? "") \(image.formats.map(\.name))")
        image.bitmap = try solid(3)
        image.metadata = image.metadata.map { $0 + Data("!".utf8) }
      })
    let stored = try await fixture.cache.store(
      solid(1), for: photo, format: .large, metadata: Data("hi".utf8))
    #expect(stored.solidNumber == 3 && !stored.isPrivate)
    for format in [ImageFormat.large, .dot] {
      let metadata = fixture.cache.cachedImage(for: photo, format: format)?.metadata
      #expect(metadata == Data("hi!".utf8))
    }
    #expect(seen.notes == [#"storedByHand a ["large", "dot"]"#])
  }

  @Test(
    "may be refused, by an error too, and the table keeps the old one", arguments: [false, true])
  func isRefused(byError: Bool) async throws {
    let (isRefusing, gate) = (Lock(false), CancellableGate())
    let fixture = try await Fixture(
      source: ScriptedSource(gate: gate),
      willStore: { image in
        guard isRefusing.withLock({ $0 }) else { return }
        if byError { throw HookError() }
        image.storage = .doNotStore
      })
    try await fixture.cache.store(solid(1), for: photo, format: .row)
    isRefusing.withLock { $0 = true }
    if byError {
      let error = await hookError(of: "a") {
        try await fixture.cache.store(solid(2), for: photo, format: .row)
      }
      #expect(error is HookError)
    } else {
      let refused = try await fixture.cache.store(solid(2), for: photo, format: .row)
      #expect(refused.isPrivate && refused.solidNumber == 2)
      #expect(await fixture.cache.statistics().failedStores == 1)
    }
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 1)
    // Nor does it keep a load from storing, or answer its subscribers.
    let other = Photo("b", url: "test:/5")
    let waiting = Task { try await fixture.image(other) }
    await fixture.source.started.reaches(1)
    _ = try? await fixture.cache.store(solid(2), for: other, format: .row)
    isRefusing.withLock { $0 = false }
    gate.open()
    #expect(try await waiting.value.solidNumber == 5)
    #expect(fixture.cache.cachedImage(for: other, format: .row)?.solidNumber == 5)
  }

  @Test("is refused where the hook gives too much metadata; a load delivers its image without")
  func hasTooMuchMetadata() async throws {
    let fixture = try await Fixture(willStore: { image in image.metadata = Data(count: 9999) })
    let error = ImageCacheError.metadataTooLarge(
      entity: photo.imageID, format: "row", byteCount: 9999,
      limit: ImageFormat.row.metadataByteLimit)
    await #expect(throws: error) {
      try await fixture.cache.store(solid(2), for: photo, format: .row)
    }
    let image = try await fixture.image(photo)
    #expect(image.isPrivate && image.solidNumber == 1 && image.metadata == nil)
  }

  @Test("has the hook look at each decode where one for all formats would be too large")
  func asksAboutEachDecode() async throws {
    let (wide, tall, asked) = (ImageFormat.wide("f"), ImageFormat.tall("f"), Order())
    let fixture = try await Fixture(
      [wide, tall],
      willStore: { image in asked.note("\(image.formats.map(\.name))") },
      configure: {
        $0.decoders = [HollowDecoder()]
        // Enough for the decode of each, and not for one that is as wide and as tall.
        $0.resources = LoadResources(decodeByteBudget: 5000)
      })
    try await fixture.cache.store(solid(9), for: photo, format: wide)
    #expect(fixture.cache.cachedFormats(for: photo).count == 2)
    try await fixture.cache.store(Data("hollow".utf8), for: photo, format: wide)
    #expect(fixture.cache.cachedFormats(for: photo) == [wide, tall])
    #expect(asked.notes == [#"["wide", "tall"]"#, #"["wide"]"#, #"["tall"]"#])
  }

  @Test("without an entity gets its id from the hook, and is found under it")
  func getsID() async throws {
    let fixture = try await Fixture(
      [.large, .dot],
      willStore: { image in
        guard image.imageID == nil, image.versionID(for: .large) == nil else { throw HookError() }
        image.imageID = 3
        image.imageID = 4
        image.bitmap = try solid(8)
      })
    let (id, image) = try await fixture.cache.store(
      solid(1), format: .large, drawing: .stretch, metadata: Data("hi".utf8))
    #expect(id == 4 && image.solidNumber == 8 && !image.isPrivate)
    var found = Photo(4)
    found.url = nil
    #expect(fixture.cache.cachedFormats(for: found).count == 2)
    #expect(fixture.cache.cachedImage(for: found, format: .large)?.metadata == Data("hi".utf8))
  }

  @Test("without an entity may be encoded bytes or a file, and be delivered only")
  func isDelivered() async throws {
    let fixture = try await Fixture(willStore: { image in
      image.imageID = "id"
      if image.metadata == nil { image.storage = .doNotStore }
    })
    let png = try solid(6).pngData()
    let file = fixture.directory.url.appendingPathComponent("picture.png")
    try png.write(to: file)
    let metadata = Data("hi".utf8)
    let delivered = try await fixture.cache.store(contentsOf: file, format: .row)
    #expect(delivered.id == "id" && delivered.image.isPrivate && delivered.image.solidNumber == 6)
    #expect(!fixture.cache.containsImage(for: ImageID("id"), format: .row))
    let stored = try await fixture.cache.store(png, format: .row, metadata: metadata)
    #expect(stored.id == "id" && !stored.image.isPrivate)
    #expect(
      try await !fixture.cache.store(contentsOf: file, format: .row, metadata: metadata).image
        .isPrivate)
  }

  @Test("is refused by a closed cache, also where no table would keep it")
  func isClosed() async throws {
    let fixture = try await Fixture(willStore: { image in image.storage = .doNotStore })
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.closed) {
      try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    }
  }

  @Test("without an entity or an id is an error, before any work where there is no hook")
  func hasNoID() async throws {
    let (plain, silent) = (try await Fixture(), try await Fixture(willStore: { _ in }))
    let missing = plain.directory.url.appendingPathComponent("missing")
    let nameless = ImageCacheError.noImageID(format: "row")
    for cache in [plain.cache, silent.cache] {
      await #expect(throws: nameless) { try await cache.store(solid(1), format: .row) }
    }
    await #expect(throws: nameless) {
      try await plain.cache.store(contentsOf: missing, format: .row)
    }
    await #expect(throws: ImageCacheError.unknownFormat("dot")) {
      try await plain.cache.store(contentsOf: missing, format: .dot)
    }
    #expect(await silent.cache.statistics().tables.first?.entryCount == 0)
  }

  @Test("keeps the id of its entity: exchanging it traps")
  func keepsID() async throws {
    await #expect(processExitsWith: .failure) {
      let fixture = try await Fixture(willStore: { image in image.imageID = "other" })
      _ = try? await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    }
  }
}
