import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

/// Decodes files of a word, "part" or "whole", and the number of a solid image.
private struct PartDecoder: ImageDecoder {
  func recognizes(_ firstBytes: Data) -> Bool { Self.number(firstBytes) != nil }

  func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
    ImageHeader(size: PixelSize(width: 40, height: 30))
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    let isPart = data.starts(with: Data("part".utf8))
    if isPart, request.damagedImages == .refuse { throw .truncated }
    do {
      var bitmap = try solid(Self.number(data) ?? 0, size: PixelSize(width: 40, height: 30))
      bitmap.isDamaged = isPart
      return bitmap
    } catch {
      throw .outOfMemory
    }
  }

  private static func number(_ data: Data) -> Int? {
    let words = String(decoding: data, as: UTF8.self).split(separator: " ")
    return words.count == 2 && ["part", "whole"].contains(words[0]) ? Int(words[1]) : nil
  }
}

@Suite("An image of which the file has a part", .timeLimit(.minutes(10)))
struct DamagedImageTests {
  private static let photo = Photo("a", url: "test:/1")

  /// Answers the first calls with the texts, and the later ones with the last.
  private static func source(_ texts: String...) -> EncodedSource {
    EncodedSource { _, call in .encoded(Data(texts[min(call, texts.count) - 1].utf8)) }
  }

  private func fixture(
    _ policy: DamagedImagePolicy, _ formats: [ImageFormat] = [.row], from source: EncodedSource,
    originals: MemoryOriginals? = nil, in directory: TemporaryDirectory? = nil,
    willStore: ImageHook? = nil
  ) async throws -> Fixture {
    try await Fixture(formats, from: source, originals: originals, directory: directory) {
      $0.decoders = [PartDecoder()]
      $0.damagedImages = policy
      $0.willStore = willStore
    }
  }

  private func marks(_ cache: ImageCache) async throws -> [Bool] {
    try await cache.entries().reduce(into: []) { $0.append($1.isDamaged) }
  }

  @Test("is an error by default, and nothing is stored")
  func isRefused() async throws {
    let fixture = try await fixture(.refuse, from: Self.source("part 5"))
    #expect(ImageCache.Configuration().damagedImages == .refuse)
    await #expect(throws: ImageCacheError.self) { try await fixture.image(Self.photo) }
    #expect(try await marks(fixture.cache).isEmpty)
  }

  @Test("is stored with a mark where parts are shown, counted and told of")
  func isShown() async throws {
    let source = Self.source("part 5")
    let fixture = try await fixture(.showPart, from: source)
    var events = fixture.cache.events().makeAsyncIterator()
    let image = try await fixture.image(Self.photo)
    #expect(image.solidNumber == 5 && image.isDamaged && !image.isPrivate)
    let hit = try await fixture.image(Self.photo)
    #expect(hit == image && source.started.value == 1)
    #expect(fixture.cache.containsImage(for: Self.photo, format: .row))
    #expect(
      fixture.cache.bestCachedImage(for: Self.photo, format: .row)?.preview.isSettled == true)
    var entries: [CacheEntry] = []
    for try await entry in fixture.cache.entries() { entries.append(entry) }
    #expect(entries.map(\.isDamaged) == [true] && entries.map(\.versionID) == [nil])
    #expect(entries[0].isImage(of: "a", version: "test:/1"))
    #expect(!entries[0].isImage(of: "a", version: "test:/2"))
    #expect(await fixture.cache.statistics().drawings == 1)
    while let event = await events.next() {
      if case .drewDamaged(let entity, let format) = event {
        #expect(entity == "a" && format == "row")
        break
      }
    }
  }

  @Test("has a copy with the mark, and so do images that are made of it")
  func isCopied() async throws {
    let fixture = try await fixture(.showPart, from: Self.source("part 5", "whole 6"))
    let copy = try await fixture.image(Self.photo).makeBitmap()
    #expect(copy.isDamaged)
    let other = Photo("b", url: "test:/2")
    let image = try await fixture.cache.store(copy, for: other, format: .row)
    #expect(image.solidNumber == 5 && image.isDamaged)
    let whole = try await fixture.image(Photo("c", url: "test:/3"))
    #expect(try !whole.makeBitmap().isDamaged)
  }

  @Test("is a miss for a cache that refuses it, which loads anew; a whole one answers both")
  func isMissedByOthers() async throws {
    let showing = try await fixture(.showPart, from: Self.source("part 5"))
    _ = try await showing.cache.image(for: Self.photo, format: .row)
    let source = Self.source("part 6", "whole 7")
    let refusing = try await fixture(.refuse, from: source, in: showing.directory)
    #expect(refusing.cache.cachedImage(for: Self.photo, format: .row) == nil)
    #expect(!refusing.cache.containsImage(for: Self.photo, format: .row))
    #expect(refusing.cache.bestCachedImage(for: Self.photo, format: .row) == nil)
    await #expect(throws: ImageCacheError.self) {
      try await refusing.cache.image(for: Self.photo, format: .row)
    }
    #expect(showing.cache.cachedImage(for: Self.photo, format: .row)?.solidNumber == 5)
    #expect(try await refusing.cache.image(for: Self.photo, format: .row).solidNumber == 7)
    #expect(showing.cache.cachedImage(for: Self.photo, format: .row)?.solidNumber == 7)
    #expect(try await marks(showing.cache) == [false])
  }

  @Test("marks the whole family, a placeholder, and what was stored by hand")
  func marksAll() async throws {
    let fixture = try await fixture(.showPart, [.large, .dot, .row], from: Self.source("part 5"))
    _ = try await fixture.image(Self.photo, .large)
    await fixture.quiet()
    #expect(try await marks(fixture.cache) == [true, true])
    let other = Photo("b", url: "test:/2")
    let placeholder = try await fixture.image(other, .row, .placeholder)
    #expect(placeholder.isDamaged)
    #expect(fixture.cache.cachedImage(for: other, format: .row) == nil)
    #expect(try await fixture.image(other, .row, .placeholder) == placeholder)
    let byHand = Photo("c", url: "test:/3")
    let bytes = Data("part 6".utf8)
    #expect(try await fixture.cache.store(bytes, for: byHand, format: .row).isDamaged)
    #expect(try await marks(fixture.cache) == [true, true, true, true])
  }

  @Test("keeps its mark through a hook that draws another image")
  func passesHook() async throws {
    let sawMark = Lock(false)
    let fixture = try await fixture(.showPart, from: Self.source("part 5")) { image in
      let isDamaged = image.bitmap.isDamaged
      sawMark.withLock { $0 = isDamaged }
      image.bitmap = try solid(9)
    }
    let image = try await fixture.image(Self.photo)
    #expect(image.solidNumber == 9 && image.isDamaged && sawMark.withLock { $0 })
  }

  @Test("leaves no original behind, neither of a load nor of a store by hand")
  func keepsNoOriginal() async throws {
    let originals = MemoryOriginals()
    let source = Self.source("part 5", "whole 6")
    let fixture = try await fixture(.showPart, from: source, originals: originals)
    _ = try await fixture.image(Self.photo)
    await fixture.quiet()
    #expect(originals.count == 0)
    _ = try await fixture.cache.store(Data("part 7".utf8), for: Self.photo, format: .row)
    #expect(originals.count == 0)
    try await fixture.cache.removeImages(for: Self.photo)
    #expect(try await fixture.image(Self.photo).solidNumber == 6)
    await fixture.quiet()
    #expect(originals.count == 1)
  }

  @Test("drops the kept original that it supersedes")
  func supersedes() async throws {
    let store = OriginalStore(directory: try TemporaryDirectory().url)
    let source = Self.source("whole 5", "part 6")
    let fixture = try await Fixture([.row], from: source) {
      $0.decoders = [PartDecoder()]
      ($0.damagedImages, $0.originals) = (.showPart, store)
    }
    _ = try await fixture.image(Self.photo)
    await fixture.quiet()
    await store.settle()
    #expect(try await store.inspect().count == 1)
    let options = LoadOptions(.reload)
    #expect(try await fixture.image(Self.photo, .row, options).isDamaged)
    await fixture.quiet()
    await store.settle()
    #expect(try await store.inspect().isEmpty)
  }

  @Test("is asked for anew where a kept original turns out to be one")
  func dropsKeptOriginal() async throws {
    let originals = MemoryOriginals()
    originals["test:/1"] = MemoryOriginals.Entry(
      bytes: Data("part 5".utf8), terms: ResponseMetadata(received: Date()), entity: "a",
      isWritten: true)
    originals.opened.increment()
    let fixture = try await fixture(
      .showPart, from: Self.source("part 6"), originals: originals)
    let image = try await fixture.image(Self.photo)
    #expect(image.solidNumber == 6 && image.isDamaged)
    #expect(originals.dropped.value == 1)
  }
}
