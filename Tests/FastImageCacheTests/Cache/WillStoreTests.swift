import Foundation
import Locking
import Pixels
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The hook before a store", .timeLimit(.minutes(10)))
struct WillStoreTests {
  private let caption = Data("by the sea".utf8)

  @Test("changes an image and its metadata once, for every later hit")
  func changes() async throws {
    let (caption, seen) = (caption, Lock<[StoredImage]>([]))
    let fixture = try await Fixture { configuration in
      configuration.source = .closure { _ in
        .bitmap(try solid(2)).with(metadata: Data("old".utf8))
      }
      configuration.willStore = { image in
        let before = image
        seen.withLock { $0.append(before) }
        image.bitmap = try solid(3)
        image.metadata = caption
      }
    }
    let photo = Photo("a", version: "v", url: "test:/2")
    let image = try await fixture.image(photo)
    #expect(image.solidNumber == 3 && image.metadata == caption && !image.isPrivate)
    let hit = try await fixture.image(photo)
    #expect(hit.solidNumber == 3 && hit.metadata == caption)
    let asked = seen.withLock { $0 }
    #expect(asked.count == 1)
    let first = try #require(asked.first)
    #expect(first.origin == .load && first.url == photo.url && first.imageID == "a")
    #expect(first.formats == [.row] && first.versionID(for: .row) == "v")
    #expect(first.versionID(for: .dot) == nil && first.metadata == Data("old".utf8))
    #expect(first.bitmap.size == PixelSize(width: 16, height: 16) && first.storage == .store)
  }

  /// Noise in a colour space of its own, of which a decoder scaled the image.
  private func noise() throws -> Bitmap {
    // No straight line, so that it matters whether it comes before the scaling or after it.
    struct Square: ColorConversion {
      func convert(
        _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat,
        to space: ColorSpace
      ) {
        for index in 0..<pixelCount * 4 where index % 4 != 3 {
          let value = Int(pixels.load(fromByteOffset: index, as: UInt8.self))
          pixels.storeBytes(of: UInt8(value * value / 255), toByteOffset: index, as: UInt8.self)
        }
      }
    }
    let size = PixelSize(width: 51, height: 38)
    let layout = try #require(PixelLayout(size: size, format: .bgrx32))
    var random = SplitMix64(state: 3)
    let full = PixelSize(width: 401, height: 299)
    return try Bitmap(
      layout: layout, colorConversion: Square(),
      edges: ImageEdges(filling: size, fullSize: full)
    ) { bytes in
      for index in bytes.indices {
        bytes[index] = index % 4 == 3 ? 255 : UInt8(random.next() >> 56)
      }
    }
  }

  @Test("sees colours in sRGB, and leaves a picture as it would be without it")
  func leavesAsItIs() async throws {
    let (noise, seen) = (try noise(), Lock<Bitmap?>(nil))
    let without = try await Fixture([.large], source: ScriptedSource { _, _, _ in .bitmap(noise) })
    let with = try await Fixture(
      [.large], source: ScriptedSource { _, _, _ in .bitmap(noise) },
      willStore: { image in
        let bitmap = image.bitmap
        seen.withLock { $0 = bitmap }
      })
    let photos = [
      try await without.cache.image(for: Photo("a"), format: .large),
      try await with.cache.image(for: Photo("a"), format: .large),
    ]
    let bytes = photos.map {
      $0.withPixels { span in
        (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
      }
    }
    #expect(bytes[0] == bytes[1])
    let bitmap = try #require(seen.withLock { $0 })
    let firsts = [noise, bitmap].map { $0.withPixels { Int($0.unsafeLoad(as: UInt8.self)) } }
    #expect(firsts[1] == firsts[0] * firsts[0] / 255)
  }

  @Test("has colours converted for it within the budget of decodes")
  func countsConversions() async throws {
    struct Noted: ColorConversion {
      let count: Counter
      func convert(
        _: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace
      ) {
        count.increment()
      }
    }
    let (started, release, converted) = (Counter(), Gate(), Counter())
    let source = ScriptedSource { url, _, _ in
      if url.lastPathComponent == "1" { return .encoded(Data("hollow".utf8)) }
      let layout = PixelLayout(for: PixelSize(width: 16, height: 16), format: .bgrx32)
      return .bitmap(
        try Bitmap(layout: layout, colorConversion: Noted(count: converted), edges: nil) { _ in })
    }
    let decoder = HollowDecoder { _ in
      started.increment()
      release.waitBlocking()
      return false
    }
    let fixture = try await Fixture(source: source) { configuration in
      configuration.willStore = { _ in }
      configuration.decoders = [decoder]
      // A decode of 1024 bytes, and no copy of as many beside it.
      configuration.resources = LoadResources(decodeWidth: 2, decodeByteBudget: 1500)
    }
    let first = Task { try await fixture.image(Photo("a", url: "test:/1")) }
    await started.reaches(1)
    let second = Task { try await fixture.image(Photo("b", url: "test:/2")) }
    let workers = fixture.cache.renderer.workers
    while workers.counts.waiting == 0, converted.value == 0, !Task.isCancelled {
      await Task.yield()
    }
    #expect(converted.value == 0)
    release.open()
    _ = (try await first.value, try await second.value)
    #expect(converted.value > 0)
  }

  @Test("gives an image other proportions")
  func changesProportions() async throws {
    let page = ImageFormat(
      name: "page", size: .fitting(PixelSize(width: 20, height: 20)), capacity: 4)
    let fixture = try await Fixture(
      [page],
      willStore: { image in
        image.bitmap = try solid(7, size: PixelSize(width: 10, height: 40))
      })
    let image = try await fixture.image(Photo("a", url: "test:/1"), page)
    #expect(image.size == PixelSize(width: 5, height: 20) && image.solidNumber == 7)
  }

  @Test("lets an image be delivered only, and its family be left alone")
  func deliversOnly() async throws {
    let fixture = try await Fixture(
      [.large, .dot],
      willStore: { image in
        image.metadata = Data("secret".utf8)
        image.storage = .doNotStore
      })
    let events = fixture.cache.events()
    let photo = Photo("a", url: "test:/2")
    for _ in 1...2 {
      let image = try await fixture.image(photo, .large)
      #expect(image.isPrivate && image.solidNumber == 2 && image.metadata == Data("secret".utf8))
      await fixture.quiet()
    }
    #expect(fixture.cache.cachedFormats(for: photo).isEmpty)
    #expect(fixture.source.started.value == 2)
    let statistics = await fixture.cache.statistics()
    #expect(statistics.failedStores == 2 && statistics.drawings == 2 && statistics.stores == 0)
    await fixture.cache.close()
    var reasons: [String] = []
    for await event in events {
      if case .storeFailed("a", "large", let reason) = event { reasons.append(reason) }
    }
    #expect(reasons.count == 2 && reasons.allSatisfy { $0.contains("willStore") })
  }

  #if canImport(CoreGraphics) || Cairo
    @Test("is not asked again for a request that comes while the family is drawn")
    func isNotAskedAgain() async throws {
      let (started, release, asked) = (Counter(), Gate(), Counter())
      let fixture = try await Fixture(
        [.large, .dot], willStore: { _ in asked.increment() })
      var photo = Photo("a", url: "test:/2")
      photo.drawing = .custom { _, _ in
        started.increment()
        release.waitBlocking()
      }
      let entity = photo
      let large = Task { try await fixture.image(entity, .large) }
      await started.reaches(1)
      let dot = Task { try await fixture.image(entity, .dot) }
      await fixture.subscribers(2)
      release.open()
      _ = try await large.value
      #expect(try await !dot.value.isPrivate)
      await fixture.quiet()
      #expect(asked.value == 1)
    }
  #endif

  @Test("is asked for each entity of one URL, and its answer is for that one only")
  func isAskedForEachEntity() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(
      source: ScriptedSource(gate: gate),
      willStore: { image in
        image.bitmap = try solid(image.imageID == "a" ? 10 : 20)
        image.metadata = image.imageID.map { Data("\($0)".utf8) }
      })
    let tasks = ["a", "b"].map { id in
      Task { try await fixture.image(Photo(ImageID(id), url: "test:/1")) }
    }
    await fixture.subscribers(2)
    gate.open()
    let images = [try await tasks[0].value, try await tasks[1].value]
    #expect(images.map(\.solidNumber) == [10, 20])
    #expect(images.map(\.metadata) == [Data("a".utf8), Data("b".utf8)])
    #expect(fixture.source.started.value == 1)
  }

  @Test("fails the requests for one entity, and for no other")
  func fails() async throws {
    let (gate, calls) = (CancellableGate(), Counter())
    let fixture = try await Fixture(
      [.large, .dot], source: ScriptedSource(gate: gate),
      willStore: { image in
        calls.increment()
        if image.imageID == "a" { throw HookError() }
      })
    let cache = fixture.cache
    let (broken, fine) = (Photo("a", url: "test:/1"), Photo("b", url: "test:/1"))
    let failing = Task { try await cache.image(for: broken, format: .large) }
    let other = Task { try await cache.image(for: fine, format: .large) }
    await fixture.subscribers(2)
    gate.open()
    #expect(await hookError(of: "a") { try await failing.value } is HookError)
    #expect(try await other.value.solidNumber == 1)
    await fixture.quiet()
    #expect(cache.cachedFormats(for: broken).isEmpty && cache.cachedFormats(for: fine).count == 2)
    #expect(calls.value == 2)
    #expect(await cache.statistics().failures == 1)
  }

  @Test("that calls itself cancelled has failed, and tells nobody of a cancellation")
  func failsByCancellation() async throws {
    let fixture = try await Fixture(willStore: { image in
      if image.imageID == "a" { throw CancellationError() }
      throw ImageCacheError.cancelled
    })
    for id in ["a", "b"] as [ImageID] {
      let error = await hookError(of: id) {
        try await fixture.image(Photo(id))
      }
      #expect(error != nil)
    }
  }

  @Test("is asked about images that an entity supplies")
  func seesOwnImages() async throws {
    let fixture = try await Fixture(willStore: { image in
      guard image.url == nil, image.origin == .load else { throw HookError() }
      image.bitmap = try solid(5)
    })
    var photo = Photo("a")
    photo.ownImage = { _ in .bitmap(try solid(4)) }
    #expect(try await fixture.image(photo).solidNumber == 5)
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 5)
    #expect(fixture.source.started.value == 0)
  }

  private func hollow(
    _ formats: [ImageFormat], gate: CancellableGate? = nil, asked: Order,
    isBroken: @escaping @Sendable (PixelSize) -> Bool = { _ in false }
  ) async throws -> Fixture {
    let source = ScriptedSource { _, _, _ in
      try await gate?.pass()
      return .encoded(Data("hollow".utf8))
    }
    return try await Fixture(
      formats, source: source,
      willStore: { image in asked.note(image.formats.map(\.name).joined(separator: " ")) },
      configure: {
        $0.decoders = [HollowDecoder(isBroken: isBroken)]
        $0.resources = LoadResources(decodeByteBudget: 5000)
      })
  }

  @Test("is asked about each decode, and a damaged one costs the others nothing")
  func isAskedApart() async throws {
    let (gate, asked) = (CancellableGate(), Order())
    let (wide, tall) = (ImageFormat.wide(), ImageFormat.tall())
    let fixture = try await hollow([wide, tall, .row], gate: gate, asked: asked) {
      $0.height > $0.width
    }
    var waiting: [Task<CachedImage, any Error>] = []
    for format in [wide, tall, .row] {
      waiting.append(Task { try await fixture.image(Photo("a"), format) })
      await fixture.subscribers(waiting.count)
    }
    gate.open()
    #expect(try await !waiting[0].value.isPrivate)
    await #expect(throws: ImageCacheError.self) { try await waiting[1].value }
    #expect(try await !waiting[2].value.isPrivate)
    #expect(asked.notes == ["wide", "row"])
    await fixture.quiet()
  }
}

@Suite("A call of the hook before a store", .timeLimit(.minutes(10)))
struct WillStoreEndingTests {
  private let gate = Gate()
  private let asked = Counter()
  private let photo = Photo("a", url: "test:/1")

  /// A cache whose hook waits at the gate, in its first call.
  private func fixture() async throws -> Fixture {
    try await Fixture(willStore: { [gate, asked] image in
      guard asked.increment() == 1 else { return }
      gate.waitBlocking()
      image.bitmap = try solid(9)
    })
  }

  /// A cache, and a request of which the hook has been asked.
  private func asking() async throws -> (Fixture, Task<CachedImage, any Error>) {
    let fixture = try await fixture()
    let task = Task { try await fixture.image(photo) }
    await asked.reaches(1)
    return (fixture, task)
  }

  @Test("keeps no cancelled subscriber, and nothing is stored after the last one left")
  func endsWithWaiters() async throws {
    let (fixture, task) = try await asking()
    task.cancel()
    await #expect { try await task.value } throws: { $0.isCancelled }
    gate.open()
    await fixture.quiet()
    #expect(await fixture.cache.statistics().stores == 0)
  }

  @Test("does not keep a closed cache, whose subscribers hear of that at once")
  func endsWithCache() async throws {
    let (fixture, task) = try await asking()
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.closed) { try await task.value }
    gate.open()
    await fixture.quiet()
  }

  @Test("changes nothing in an image that is stored by hand meanwhile")
  func losesToStore() async throws {
    let (fixture, task) = try await asking()
    try await fixture.cache.store(solid(3), for: photo, format: .row)
    #expect(try await task.value.solidNumber == 3)
    gate.open()
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 3)
  }

  @Test("outlives a removal of its image, which is delivered and not stored")
  func outlivesRemoval() async throws {
    let (fixture, task) = try await asking()
    try await fixture.cache.removeImage(for: photo, format: .row)
    gate.open()
    let image = try await task.value
    #expect(image.isPrivate && image.solidNumber == 9)
    #expect(!fixture.cache.containsImage(for: photo, format: .row))
  }

  @Test("for a store by hand throws nothing away but the store of a cancelled task")
  func endsWithTask() async throws {
    let fixture = try await Fixture(willStore: { [gate, asked] _ in
      asked.increment()
      gate.waitBlocking()
      throw HookError()
    })
    let task = Task { try await fixture.cache.store(solid(1), for: photo, format: .row) }
    await asked.reaches(1)
    task.cancel()
    gate.open()
    await #expect { try await task.value } throws: { $0.isCancelled }
    #expect(!fixture.cache.containsImage(for: photo, format: .row))
  }

  @Test("for a store by hand outlives the cache, which stores nothing more")
  func outlivesCache() async throws {
    let fixture = try await fixture()
    let task = Task { try await fixture.cache.store(solid(1), for: photo, format: .row) }
    await asked.reaches(1)
    await fixture.cache.close()
    gate.open()
    await #expect(throws: ImageCacheError.closed) { try await task.value }
  }
}
