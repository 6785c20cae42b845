import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Opening a cache", .timeLimit(.minutes(10)))
struct OpeningTests {
  private func open(
    _ formats: [ImageFormat], namespace: String = "test", in directory: TemporaryDirectory? = nil,
    source: ScriptedSource = ScriptedSource()
  ) async throws -> ImageCache {
    var configuration = ImageCache.Configuration()
    let directory = try directory ?? TemporaryDirectory()
    configuration.directory = directory.url
    configuration.source = source
    return try await ImageCache(
      namespace: namespace, formats: formats, configuration: configuration)
  }

  private func format(
    _ name: String = "f", size: PixelSize = PixelSize(width: 8, height: 8), scale: Double = 1,
    revision: Int = 0, capacity: ImageFormat.Capacity = 4
  ) -> ImageFormat {
    ImageFormat(
      name: name, size: .exact(size), scale: scale, pixelFormat: .bgrx32, revision: revision,
      capacity: capacity)
  }

  @Test("finds the images of the same revision, and none of another")
  func startsAfreshForRevision() async throws {
    let directory = try TemporaryDirectory()
    for (revision, isThere) in [(0, false), (0, true), (7, false), (7, true), (0, false)] {
      let format = format(revision: revision)
      let cache = try await open([format], in: directory)
      #expect(cache.containsImage(for: Photo("a"), format: format) == isThere)
      try await cache.store(solid(1), for: Photo("a"), format: format)
      await cache.close()
    }
  }

  @Test("names the format that cannot have a table")
  func refusesImpossibleFormats() async throws {
    let impossible = [
      format(""), format(String(repeating: "n", count: 256)),
      format(size: PixelSize(width: 0, height: 8)), format(size: PixelSize(width: 8, height: -1)),
      format(size: PixelSize(width: 1 << 31, height: 1)), format(scale: 0), format(scale: .nan),
      format(capacity: 0), format(capacity: -5), format(capacity: .count(1 << 40)),
      format(capacity: .bytes(0)), format(capacity: .bytes(100)), format(revision: -1),
      format(revision: 1 << 32),
    ]
    for format in impossible {
      do {
        _ = try await open([format])
        Issue.record("\(format) was accepted.")
      } catch let error as ImageCacheError {
        guard case .invalidFormat(format.name, _) = error else { throw error }
      }
    }
  }

  @Test("has one limit of capacity, and names it")
  func limitsCapacity() async throws {
    #expect(format(capacity: .count(1 << 22)).problem == nil)
    let tooMany = format(capacity: .count(1 << 22 + 1))
    do {
      _ = try await open([tooMany])
      Issue.record("It was accepted.")
    } catch ImageCacheError.invalidFormat("f", let reason) {
      #expect(reason == "its capacity is 4194305 images; it must be 1 to 4194304")
    }
  }

  @Test("refuses a capacity that another cache of the process does not have")
  func refusesOtherCapacity() async throws {
    let directory = try TemporaryDirectory()
    let first = try await open([format(capacity: 8)], in: directory)
    do {
      _ = try await open([format(capacity: 4)], in: directory)
      Issue.record("It was opened.")
    } catch ImageCacheError.invalidFormat("f", let reason) {
      #expect(reason.contains("for 8 images"))
    }
    await first.close()
    let second = try await open([format(capacity: 4)], in: directory)
    #expect(await second.statistics().tables.map(\.slotCount) == [4])
  }

  @Test("takes widths of nothing for one, and a budget of less than nothing for none")
  func clampsConfiguration() async throws {
    let fixture = try await Fixture { configuration in
      configuration.resources = LoadResources(
        decodeWidth: 0, decodeByteBudget: -1, networkWidth: 0, localWidth: -3)
    }
    let photo = Photo("a", url: "test:/5")
    let image = try await fixture.cache.image(for: photo, format: .row)
    #expect(image.solidNumber == 5)
    do {
      try await fixture.cache.store(image.pngData(), for: photo, format: .row)
      Issue.record("It was decoded.")
    } catch ImageCacheError.imageTooLarge(_, let text) {
      #expect(text.hasSuffix(" The limit is 0."))
    }
  }

  @Test("refuses an empty and an endless namespace", arguments: [0, 256, 10_000])
  func refusesNamespaces(length: Int) async throws {
    let name = String(repeating: "n", count: length)
    do {
      _ = try await open([format()], namespace: name)
      Issue.record("The namespace was accepted.")
    } catch ImageCacheError.invalidNamespace(name) {}
  }

  @Test(
    "takes any other namespace and stays inside its folder",
    arguments: ["../../etc", "a/b", "a\0b", ".", "Foo", "foo", "\u{E9}", "e\u{301}"])
  func takesOddNamespaces(namespace: String) async throws {
    let directory = try TemporaryDirectory()
    let cache = try await open([format()], namespace: namespace, in: directory)
    let parent = cache.directory.deletingLastPathComponent().standardizedFileURL.path
    #expect(parent == directory.url.standardizedFileURL.path)
    try await cache.store(solid(3), for: Photo("a"), format: format())
    #expect(cache.cachedImage(for: Photo("a"), format: format())?.solidNumber == 3)
  }

  @Test("deletes tables that are not listed any more, and nothing else")
  func sweepsOldTables() async throws {
    let directory = try TemporaryDirectory()
    let first = try await open([format("a"), format("b")], in: directory)
    try await first.store(solid(1), for: Photo("a"), format: format("a"))
    try await first.store(solid(1), for: Photo("a"), format: format("b"))
    await first.close()
    let stranger = first.directory.appendingPathComponent("notes.txt")
    try Data("mine".utf8).write(to: stranger)
    let folder = first.directory.appendingPathComponent("folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)

    let second = try await open([format("a")], in: directory)
    #expect(second.containsImage(for: Photo("a"), format: format("a")))
    await second.close()
    #expect(try Data(contentsOf: stranger) == Data("mine".utf8))
    #expect(FileManager.default.fileExists(atPath: folder.path))
    let third = try await open([format("a"), format("b")], in: directory)
    #expect(!third.containsImage(for: Photo("a"), format: format("b")))
  }

  @Test(
    "keeps the images when the protection changes",
    arguments: [ImageFormat.Protection.none, .complete, .untilFirstUnlock])
  func keepsProtected(protection: ImageFormat.Protection) async throws {
    let directory = try TemporaryDirectory()
    let first = try await open([format()], in: directory)
    try await first.store(solid(3), for: Photo("a"), format: format())
    await first.close()
    let changed = ImageFormat(
      name: "f", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32, capacity: 4,
      protection: protection)
    let second = try await open([changed], in: directory)
    #expect(second.cachedImage(for: Photo("a"), format: changed)?.solidNumber == 3)
    try await second.store(solid(4), for: Photo("b"), format: changed)
    await second.close()
    let third = try await open([format()], in: directory)
    let numbers = ["a", "b"].map {
      third.cachedImage(for: Photo($0), format: format())?.solidNumber
    }
    #expect(numbers == [3, 4])
  }

  @Test("keeps the images when capacity, family, devices or scale change")
  func keepsImages() async throws {
    let directory = try TemporaryDirectory()
    let first = try await open([format()], in: directory)
    for number in 1...4 {
      try await first.store(solid(number), for: Photo(ImageID(number)), format: format())
    }
    await first.close()
    let changed = ImageFormat(
      name: "f", family: "new", size: .exact(PixelSize(width: 8, height: 8)), scale: 2,
      pixelFormat: .bgrx32,
      capacity: 3, devices: .desktop)
    let second = try await open([changed], in: directory)
    let kept = (1...4).map {
      second.cachedImage(for: Photo(ImageID($0)), format: changed)?.solidNumber
    }
    #expect(kept == [nil, 2, 3, 4])
  }

  @Test(
    "starts afresh when the pixels change",
    arguments: [
      ImageFormat(
        name: "f", size: .exact(PixelSize(width: 9, height: 8)), pixelFormat: .bgrx32, capacity: 4),
      ImageFormat(
        name: "f", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgra32, capacity: 4),
      ImageFormat(
        name: "f", size: .fitting(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32, capacity: 4
      ),
    ])
  func startsAfresh(changed: ImageFormat) async throws {
    let directory = try TemporaryDirectory()
    let first = try await open([format()], in: directory)
    try await first.store(solid(1), for: Photo("a"), format: format())
    await first.close()
    let second = try await open([changed], in: directory)
    #expect(second.cachedImage(for: Photo("a"), format: changed) == nil)
    try await second.store(solid(2), for: Photo("a"), format: changed)
    #expect(second.cachedImage(for: Photo("a"), format: changed)?.solidNumber == 2)
  }

  @Test("twice in one process shares the images")
  func sharesTables() async throws {
    let directory = try TemporaryDirectory()
    let first = try await open([format()], in: directory)
    let second = try await open([format()], in: directory)
    try await first.store(solid(5), for: Photo("a"), format: format())
    #expect(second.cachedImage(for: Photo("a"), format: format())?.solidNumber == 5)
    await first.close()
    #expect(second.cachedImage(for: Photo("a"), format: format())?.solidNumber == 5)
    try await second.store(solid(6), for: Photo("b"), format: format())
    #expect(second.cachedImage(for: Photo("b"), format: format())?.solidNumber == 6)
  }

  @Test("with a format for other devices draws without storing")
  func respectsDevices() async throws {
    let phone = ImageFormat(
      name: "p", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32, capacity: 4,
      devices: .phone)
    let fixture = try await Fixture([phone])
    let photo = Photo("a", url: "test:/2")
    let image = try await fixture.cache.image(for: photo, format: phone)
    #expect(image.isPrivate && image.solidNumber == 2)
    #expect(!fixture.cache.containsImage(for: photo, format: phone))
    let files = try FileManager.default.contentsOfDirectory(atPath: fixture.cache.directory.path)
    #expect(files.isEmpty)
  }

  @Test("and closing it refuses what comes later and keeps held images")
  func closes() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let held = try await fixture.cache.store(solid(4), for: Photo("a"), format: .row)
    let waiting = Task { try await fixture.cache.image(for: Photo("b"), format: .row) }
    await fixture.source.started.reaches(1)
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.self) { try await waiting.value }
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.image(for: Photo("c"), format: .row)
    }
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.store(solid(1), for: Photo("c"), format: .row)
    }
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row) == nil)
    #expect(held.solidNumber == 4)
  }

  @Test("and dropping it lets the files go")
  func closesWithLastReference() async throws {
    let directory = try TemporaryDirectory()
    do {
      let cache = try await open([format()], in: directory)
      try await cache.store(solid(1), for: Photo(1), format: format())
      try await cache.store(solid(2), for: Photo(2), format: format())
      _ = cache.cachedImage(for: Photo(1), format: format())
    }
    // The order of use has been written: the second one is the older.
    let smaller = format(capacity: 1)
    let cache = try await open([smaller], in: directory)
    #expect(cache.containsImage(for: Photo(1), format: smaller))
    #expect(!cache.containsImage(for: Photo(2), format: smaller))
  }
}
