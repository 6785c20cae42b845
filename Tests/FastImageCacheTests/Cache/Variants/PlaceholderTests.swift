import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A placeholder", .timeLimit(.minutes(10)))
struct PlaceholderTests {
  private let thumbnail = Photo("a", url: "test:/1")
  private let photo = Photo("a", url: "test:/2")

  private func kind(_ photo: Photo, _ format: ImageFormat, in fixture: Fixture) -> ImagePreview
    .Kind?
  {
    fixture.cache.bestCachedImage(for: photo, format: format)?.preview.kind
  }

  private func load(
    _ photo: Photo, _ format: ImageFormat = .row, isPlaceholder: Bool = true, in fixture: Fixture
  ) async throws -> Int? {
    let options = isPlaceholder ? LoadOptions.placeholder : LoadOptions()
    let image = try await fixture.image(photo, format, options)
    await fixture.quiet()
    return image.solidNumber
  }

  @Test("is missed by requests for the real image, found as the closest, and replaced by it")
  func isReplaced() async throws {
    let fixture = try await Fixture()
    #expect(try await load(thumbnail, in: fixture) == 1)
    #expect(fixture.cache.cachedImage(for: thumbnail, format: .row) == nil)
    #expect(fixture.cache.cachedFormats(for: photo).isEmpty)
    #expect(kind(thumbnail, .row, in: fixture) == .placeholder)
    #expect(kind(photo, .row, in: fixture) == .placeholder)
    #expect(try await load(thumbnail, in: fixture) == 1 && fixture.source.started.value == 1)
    let (image, _) = try await fixture.cache.load(thumbnail, format: .row, options: .placeholder)
    #expect(image.solidNumber == 1)
    #expect(await fixture.cache.statistics().misses == 1)
    #expect(try await load(photo, isPlaceholder: false, in: fixture) == 2)
    #expect(kind(photo, .row, in: fixture) == .variant(.row))
    let entries: [CacheEntry] = try await fixture.cache.entries().reduce(into: []) { $0.append($1) }
    #expect(entries.map(\.isPlaceholder) == [false])
  }

  @Test("takes the place of no real image, of another version or marked stale neither")
  func replacesNone() async throws {
    let fixture = try await Fixture()
    #expect(try await load(photo, isPlaceholder: false, in: fixture) == 2)
    #expect(try await load(thumbnail, in: fixture) == 1)
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
    #expect(try await load(photo, in: fixture) == 2 && fixture.source.started.value == 2)
    try await fixture.cache.markStale(photo)
    #expect(try await load(thumbnail, in: fixture) == 1)
    #expect(kind(photo, .row, in: fixture) == .stale)
    try await fixture.cache.removeImages(for: photo)
    #expect(try await load(thumbnail, in: fixture) == 1)
    #expect(kind(photo, .row, in: fixture) == .placeholder)
    try await fixture.cache.removeImages(for: photo)
    #expect(kind(photo, .row, in: fixture) == nil)
  }

  @Test("that is stored while another request for it begins is not loaded again", arguments: 1...2)
  func isStoredMeanwhile(question: Int) async throws {
    for isUnderWay in [false, true] {
      let (fixture, gate) = try await Fixture.gated()
      let first = isUnderWay ? Task { try await load(thumbnail, in: fixture) } : nil
      await fixture.source.started.reaches(isUnderWay ? 1 : 0)
      var late = thumbnail
      let questions = Counter()
      // The lookup and the request itself ask for the version.
      late.willTellSource = { _ in
        if questions.increment() == question { Self.store(7, as: thumbnail, in: fixture.cache) }
      }
      let image = try await fixture.image(late, .row, .placeholder)
      #expect(image.solidNumber == 7 && fixture.source.started.value == (isUnderWay ? 1 : 0))
      gate.open()
      #expect(try await first?.value == (isUnderWay ? 1 : nil))
    }
  }

  @Test("that has changed is redrawn in all formats that show it, and no real image with it")
  func isRedrawn() async throws {
    let formats = [ImageFormat.square(8), .square(16)]
    let other = ImageFormat("other", 4)
    let source = EncodedSource { _, call in .encoded(try solid(call).pngData()) }
    let fixture = try await Fixture(formats + [other, .row], from: source)
    #expect(try await load(photo, formats[0], in: fixture) == 1)
    #expect(try await load(photo, other, in: fixture) == 2)
    #expect(try await load(photo, .row, isPlaceholder: false, in: fixture) == 3)
    var options = LoadOptions.placeholder
    options.cachePolicy = .revalidate
    let image = try await fixture.image(photo, formats[0], options)
    #expect(image.solidNumber == 4)
    await fixture.quiet()
    for format in formats + [other] {
      let closest = fixture.cache.bestCachedImage(for: photo, format: format)
      #expect(closest?.image.solidNumber == 4 && closest?.preview.kind == .placeholder)
    }
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 3)
  }

  /// Stores a placeholder at once, as the load of another cache would.
  private static func store(_ number: Int, as photo: Photo, in cache: ImageCache) {
    let table = cache.tables[.row]
    let request = table.map {
      ImageRequest(entity: photo, table: $0, tables: cache.tables, options: .placeholder)
    }
    do {
      guard let table, let request else { throw ImageCacheError.closed }
      let slot = try table.drawSlot(for: request.key, size: ImageFormat.row.size) { bytes, layout in
        try solid(number, size: layout.size).withUnsafeBytes { bytes.copyMemory(from: $0) }
      }
      _ = try table.store(
        slot, for: request.key, cache.recorder, .byHand(at: request.generation), oldest: { .max })
    } catch {
      Issue.record(error)
    }
  }

  @Test("drawn along with one of its family is not drawn again")
  func isDrawnOnce() async throws {
    let fixture = try await Fixture([.large, .dot])
    for storeCount in [2, 3] {
      _ = try await fixture.image(thumbnail, .dot, .placeholder)
      await fixture.quiet()
      #expect(await fixture.cache.statistics().stores == storeCount)
      try await fixture.cache.removeImage(for: thumbnail, format: .dot)
    }
  }

  @Test("is one in a later session too, and in the formats that are drawn along")
  func lasts() async throws {
    let fixture = try await Fixture([.large, .dot])
    #expect(try await load(thumbnail, .large, in: fixture) == 1)
    for format in [ImageFormat.large, .dot] {
      #expect(kind(photo, format, in: fixture) == .placeholder)
    }
    await fixture.cache.close()
    let later = try await Fixture([.large, .dot], directory: fixture.directory)
    for format in [ImageFormat.large, .dot] {
      #expect(kind(photo, format, in: later) == .placeholder)
      #expect(!later.cache.containsImage(for: thumbnail, format: format))
    }
    #expect(try await load(thumbnail, .large, in: later) == 1 && later.source.started.value == 0)
    let entries: [CacheEntry] = try await later.cache.entries().reduce(into: []) { $0.append($1) }
    #expect(entries.allSatisfy { $0.isPlaceholder && $0.versionID == nil } && entries.count == 2)
  }

  @Test(
    "shares no load with its URL's real image, which takes its place", arguments: [false, true])
  func isApart(realFirst: Bool) async throws {
    let (fixture, gate) = try await Fixture.gated()
    let requests = [realFirst, !realFirst].map { isReal in
      Task { try await load(photo, isPlaceholder: !isReal, in: fixture) }
    }
    await fixture.subscribers(2)
    gate.open()
    for request in requests { #expect(try await request.value == 2) }
    #expect(fixture.source.started.value == 2)
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
  }

  @Test("gives way to a real image that loads meanwhile, in any cache", arguments: [false, true])
  func meets(isSecondCache: Bool) async throws {
    for (beginsReal, endsReal) in [(true, true), (true, false), (false, true), (false, false)] {
      let gates = [CancellableGate(), CancellableGate()]
      let source = ScriptedSource { url, _, _ in
        let number = Int(url.lastPathComponent) ?? 0
        try await gates[number - 1].pass()
        return .bitmap(try solid(number))
      }
      let fixture = try await Fixture(source: source)
      let other =
        isSecondCache
        ? try await Fixture(source: source, directory: fixture.directory) : fixture
      var loads: [Bool: Task<CachedImage, any Error>] = [:]
      for (count, isReal) in [beginsReal, !beginsReal].enumerated() {
        loads[isReal] = Task {
          isReal
            ? try await other.cache.image(for: photo, format: .row)
            : try await fixture.image(thumbnail, .row, .placeholder)
        }
        await source.started.reaches(count + 1)
      }
      for isReal in [endsReal, !endsReal] {
        gates[isReal ? 1 : 0].open()
        #expect(try await loads[isReal]?.value.solidNumber == (isReal ? 2 : 1))
      }
      #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
      #expect(fixture.cache.cachedImage(for: thumbnail, format: .row) == nil)
    }
  }

  @Test("has its original kept as one, which answers requests for placeholders only")
  func keepsOriginal() async throws {
    let (originals, source) = (MemoryOriginals(), EncodedSource())
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    #expect(try await load(photo, in: fixture) == 2)
    await originals.written.reaches(1)
    #expect(originals["test:/2"]?.isPlaceholder == true)
    #expect(try await load(photo, .large, in: fixture) == 2 && source.started.value == 1)
    #expect(try await load(photo, isPlaceholder: false, in: fixture) == 2)
    await originals.written.reaches(2)
    #expect(source.started.value == 2 && originals["test:/2"]?.isPlaceholder == false)
    #expect(try await load(photo, .large, isPlaceholder: false, in: fixture) == 2)
    #expect(source.started.value == 2)
  }

  @Test("that a store on disk keeps is one there, until the real one comes")
  func keepsOnDisk() async throws {
    let directory = try TemporaryDirectory()
    let store = OriginalStore(directory: directory.url)
    let fixture = try await Fixture(from: EncodedSource()) { $0.originals = store }
    for isPlaceholder in [true, false] {
      #expect(try await load(photo, isPlaceholder: isPlaceholder, in: fixture) == 2)
      await fixture.cache.loadsHaveEnded()
      #expect(try await store.inspect().map(\.isPlaceholder) == [isPlaceholder])
    }
  }
}
