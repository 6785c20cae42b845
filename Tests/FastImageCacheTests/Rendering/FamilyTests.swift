import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A family", .timeLimit(.minutes(10)))
struct FamilyTests {
  private let wide = ImageFormat.wide()
  private let tall = ImageFormat.tall()
  private let photo = Photo("a", url: "test:/3")
  private let gate = CancellableGate()

  /// Enough for the decode of each, and not for one that is as wide and as tall.
  private let budget = 5000

  /// A cache whose source brings an image that a decoder of blanks reads, once the gate is open.
  private func hollow(
    _ formats: [ImageFormat], _ decoder: HollowDecoder, budget: Int, _ gate: CancellableGate
  ) async throws -> Fixture {
    let source = ScriptedSource { _, _, _ in
      try await gate.pass()
      return .encoded(Data("hollow".utf8))
    }
    return try await Fixture(formats, source: source) { configuration in
      configuration.decoders = [decoder]
      configuration.resources = LoadResources(decodeByteBudget: budget)
    }
  }

  @Test("is drawn from one load, without what is there, and left alone if the entity says so")
  func isDrawnTogether() async throws {
    let fixture = try await Fixture([.large, .dot, .row])
    var photo = Photo("a", url: "test:/3")
    photo.wantsFamily = false
    try await fixture.image(photo, .dot)
    await fixture.quiet()
    #expect(fixture.cache.cachedFormats(for: photo).map(\.name) == ["dot"])
    photo.wantsFamily = true
    try await fixture.image(photo, .large)
    await fixture.quiet()
    #expect(fixture.cache.cachedFormats(for: photo).map(\.name) == ["large", "dot"])
    #expect(await fixture.cache.statistics().drawings == 2)
    let other = Photo("b", url: "test:/4")
    try await fixture.image(other, .large)
    await fixture.quiet()
    #expect(fixture.cache.cachedFormats(for: other).map(\.name) == ["large", "dot"])
    #expect(fixture.source.started.value == 3)
  }

  @Test("asked for in all its formats at once stores each of them once")
  func storesOnce() async throws {
    let formats = [ImageFormat.large, .dot].map { $0.with(capacity: 2) }
    let fixture = try await Fixture(formats)
    for number in 1...2 {
      let photo = Photo(ImageID(number), url: "test:/\(number)")
      await withTaskGroup { group in
        for format in formats {
          group.addTask { _ = try? await fixture.image(photo, format) }
        }
      }
      await fixture.quiet()
    }
    // An image stored twice would have taken another one's slot.
    let statistics = await fixture.cache.statistics()
    #expect(statistics.stores == 4)
    #expect(statistics.tables.map(\.entryCount) == [2, 2])
  }

  #if canImport(CoreGraphics) || Cairo
    @Test("is drawn to its end though a request comes that another image answers")
    func isDrawnAfterOthers() async throws {
      let small = ImageFormat(
        name: "small", family: "photos", size: .exact(PixelSize(width: 6, height: 6)), capacity: 16)
      let (drawn, release) = (Counter(), Gate())
      let fixture = try await Fixture([.large, .dot, small])
      var photo = Photo("a", url: "test:/2")
      photo.drawing = .custom { _, _ in
        // The first sibling.
        if drawn.increment() == 2 { release.waitBlocking() }
      }
      _ = try await fixture.image(photo, .large)
      await drawn.reaches(2)
      var other = Photo("b", url: "test:/2")
      other.wantsFamily = false
      other.ownImage = { _ in .bitmap(try solid(5)) }
      let entity = other
      let request = Task { try await fixture.image(entity, .large) }
      await fixture.subscribers(1)
      release.open()
      _ = try await request.value
      await fixture.quiet()
      #expect(fixture.cache.cachedFormats(for: photo).map(\.name) == ["large", "dot", "small"])
    }
  #endif

  @Test(
    "whose one decode would be too large has the images that need less", arguments: [nil, 2000])
  func isDrawnApart(untoldLimit: Int?) async throws {
    // Between what the two formats need.
    let fixture = try await hollow(
      [.large, .dot], HollowDecoder(untoldLimit: untoldLimit), budget: 2000, gate)
    let dot = Task { try await fixture.image(photo, .dot) }
    let large = Task { try await fixture.image(photo, .large) }
    await fixture.subscribers(2)
    gate.open()
    #expect(try await dot.value.isPrivate == false)
    await #expect {
      try await large.value
    } throws: {
      if case .imageTooLarge? = $0 as? ImageCacheError { true } else { false }
    }
    // Alone, with a family that is too large.
    _ = try await fixture.image(Photo("b", url: "test:/4"), .dot)
    await fixture.quiet()
    #expect(fixture.cache.cachedFormats(for: photo).map(\.name) == ["dot"])
  }

  @Test(
    "with one image too large costs the others one decode or error each",
    arguments: [false, true])
  func sharesTheRest(isBroken: Bool) async throws {
    let fixture = try await hollow(
      [.row, .dot, .large], HollowDecoder { _ in isBroken }, budget: 2000, gate)
    // The smallest first: what it needs does not suffice for the other.
    var waiting: [Task<CachedImage, any Error>] = []
    for format in [ImageFormat.dot, .row] {
      waiting.append(Task { try await fixture.image(photo, format) })
      await fixture.subscribers(waiting.count)
    }
    gate.open()
    for task in waiting {
      if isBroken {
        await #expect(throws: ImageCacheError.self) { try await task.value }
      } else {
        _ = try await task.value
      }
    }
    await fixture.quiet()
    #expect(await fixture.cache.statistics().decodes == (isBroken ? 0 : 1))
  }

  @Test("drawn apart loses only those of its images that cannot be drawn")
  func losesBroken() async throws {
    let fixture = try await hollow(
      [wide, tall], HollowDecoder { $0.height > $0.width }, budget: budget, gate)
    let broken = Task { try await fixture.image(photo, tall) }
    await fixture.subscribers(1)
    let fine = Task { try await fixture.image(photo, wide) }
    await fixture.subscribers(2)
    gate.open()
    await #expect(throws: ImageCacheError.undecodable(photo.url, reason: .damaged("hollow"))) {
      try await broken.value
    }
    #expect(try await fine.value.isPrivate == false)
    await fixture.quiet()
  }

  @Test("drawn apart answers nobody before all is drawn, so that all can be given up")
  func answersLast() async throws {
    let (gate, started, release) = (CancellableGate(), Counter(), Gate())
    let fixture = try await hollow(
      [wide, tall],
      HollowDecoder { size in
        guard size.height > size.width else { return false }
        started.increment()
        release.waitBlocking()
        return false
      }, budget: budget, gate)
    var waiting: [Task<CachedImage, any Error>] = []
    for format in [wide, tall] {
      waiting.append(Task { try await fixture.image(Photo("a"), format) })
      await fixture.subscribers(waiting.count)
    }
    gate.open()
    await started.reaches(1)
    #expect(await fixture.cache.statistics().pendingRequests == 2)
    for task in waiting { task.cancel() }
    for task in waiting { await #expect { try await task.value } throws: { $0.isCancelled } }
    release.open()
    await fixture.quiet()
    #expect(await fixture.cache.statistics().stores == 0)
  }

  @Test("loses the images that one stored by hand is too large for")
  func losesTooLarge() async throws {
    let fixture = try await Fixture([.large, .dot]) { configuration in
      configuration.decoders = [HollowDecoder()]
      configuration.resources = LoadResources(decodeByteBudget: 2000)
    }
    try await fixture.cache.store(solid(9), for: photo, format: .large)
    #expect(fixture.cache.cachedFormats(for: photo).map(\.name) == ["large", "dot"])
    try await fixture.cache.store(Data("hollow".utf8), for: photo, format: .dot)
    #expect(fixture.cache.cachedFormats(for: photo).map(\.name) == ["dot"])
  }

  @Test("one of whose images cannot be drawn keeps the one that was stored by hand")
  func survivesSibling() async throws {
    let fixture = try await Fixture([.large, .dot])
    let good = Photo("a", version: 1)
    try await fixture.cache.store(solid(9), for: good, format: .large)
    #expect(fixture.cache.cachedFormats(for: good).map(\.name) == ["large", "dot"])
    let events = fixture.cache.events()
    let broken = HalfBroken(brokenFormat: ImageFormat.dot.name)
    let stored = try await fixture.cache.store(solid(10), for: broken, format: .large)
    #expect(stored.solidNumber == 10)
    // The old one would show another image than the rest of the family.
    #expect(fixture.cache.cachedFormats(for: good).map(\.name) == ["large"])
    #expect(await fixture.cache.statistics().failedStores == 1)
    await fixture.cache.close()
    var reasons: [String] = []
    for await event in events {
      if case .storeFailed("a", "dot", let reason) = event { reasons.append(reason) }
    }
    #expect(reasons.count == 1)
    // Without Cairo there is no canvas for the closure that would break.
    #if Cairo
      #expect(reasons.first?.contains("Broken") == true)
    #endif
  }

  @Test("the image of which that was stored by hand cannot be drawn stays as it is")
  func failsWithOwnFormat() async throws {
    let fixture = try await Fixture([.large, .dot])
    let good = Photo("a", version: 1)
    try await fixture.cache.store(solid(9), for: good, format: .large)
    let broken = HalfBroken(brokenFormat: ImageFormat.large.name)
    await #expect {
      try await fixture.cache.store(solid(10), for: broken, format: .large)
    } throws: {
      if case .drawingFailed("a", "large", _)? = $0 as? ImageCacheError { true } else { false }
    }
    #expect(fixture.cache.cachedFormats(for: good).map(\.name) == ["large", "dot"])
  }
}

/// Takes four bytes for each pixel that is asked for.
struct HollowDecoder: ImageDecoder {
  private let untoldLimit: Int?
  private let isBroken: @Sendable (PixelSize) -> Bool

  /// - Parameters:
  ///   - untoldLimit: The decoder tells that it takes no bytes, and refuses larger decodes.
  ///   - isBroken: Whether the image is damaged when it is decoded to a size.
  init(
    untoldLimit: Int? = nil, isBroken: @escaping @Sendable (PixelSize) -> Bool = { _ in false }
  ) {
    (self.untoldLimit, self.isBroken) = (untoldLimit, isBroken)
  }

  func recognizes(_ firstBytes: Data) -> Bool { firstBytes.starts(with: Data("hollow".utf8)) }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    ImageHeader(size: PixelSize(width: 400, height: 300))
  }

  func workingByteCount(for header: ImageHeader, minimumSize: PixelSize?) -> Int {
    untoldLimit == nil ? ((minimumSize ?? header.size).pixelCount ?? .max) * 4 : 0
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    let size = request.minimumSize ?? PixelSize(width: 400, height: 300)
    if isBroken(size) { throw .damaged("hollow") }
    if let untoldLimit, (size.pixelCount ?? .max) * 4 > untoldLimit { throw .tooLarge("hollow") }
    do {
      return try solid(1, size: size)
    } catch {
      throw .outOfMemory
    }
  }
}

/// Cannot be drawn in one format.
private struct HalfBroken: ImageEntity {
  struct Broken: Error {}
  let brokenFormat: String

  var imageID: ImageID { "a" }
  func versionID(for format: ImageFormat) -> ImageID { 1 }
  func sourceURL(for format: ImageFormat) -> URL? { nil }
  func drawing(for format: ImageFormat) -> Drawing {
    format.name == brokenFormat ? .custom { _, _ in throw Broken() } : .stretch
  }
}
