import Foundation
import TestSupport
import Testing

@testable import FastImageCache

private func format(
  _ name: String = "f", size: PixelSize = PixelSize(width: 8, height: 8), isWhole: Bool = false,
  scale: Double = 1, pixelFormat: PixelFormat = .bgrx32, revision: Int = 0,
  capacity: ImageFormat.Capacity = 4, quality: ImageFormat.Quality = .balanced,
  colorSpace: ColorSpace = .sRGB, animation: ImageFormat.Animation = .firstFrame
) -> ImageFormat {
  ImageFormat(
    name: name, size: isWhole ? .fitting(size) : .exact(size), scale: scale,
    pixelFormat: pixelFormat, revision: revision, capacity: capacity, quality: quality,
    colorSpace: colorSpace, animation: animation)
}

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

  @Test("names the format that cannot have a table")
  func refusesImpossibleFormats() async throws {
    #expect(format(capacity: .count(1 << 22)).problem == nil)
    let impossible = [
      format(""), format(String(repeating: "n", count: 256)),
      format(size: PixelSize(width: 0, height: 8)), format(size: PixelSize(width: 8, height: -1)),
      format(size: PixelSize(width: 1 << 31, height: 1)), format(scale: 0), format(scale: .nan),
      format(capacity: 0), format(capacity: -5), format(capacity: .count(1 << 40)),
      format(capacity: .count(1 << 22 + 1)), format(capacity: .bytes(0)),
      format(capacity: .bytes(100)), format(revision: -1), format(revision: 1 << 32),
    ]
    for format in impossible {
      await #expect {
        try await open([format])
      } throws: {
        if case .invalidFormat(format.name, _)? = $0 as? ImageCacheError { true } else { false }
      }
    }
  }

  @Test("refuses a capacity that another cache of the process does not have")
  func refusesOtherCapacity() async throws {
    let directory = try TemporaryDirectory()
    let first = try await open([format(capacity: 8)], in: directory)
    await #expect {
      try await open([format(capacity: 4)], in: directory)
    } throws: {
      guard case .invalidFormat("f", let reason)? = $0 as? ImageCacheError else { return false }
      return reason.contains("for 8 images")
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
    let image = try await fixture.image(photo)
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
    await #expect(throws: ImageCacheError.invalidNamespace(name)) {
      try await open([format()], namespace: name)
    }
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

  @Test("keeps the images when capacity, family, devices, scale or protection change")
  func keepsImages() async throws {
    let directory = try TemporaryDirectory()
    let first = try await open([format()], in: directory)
    for number in 1...4 {
      try await first.store(solid(number), for: Photo(ImageID(number)), format: format())
    }
    await first.close()
    let changed = ImageFormat(
      "f", family: "new", scale: 2, capacity: 3, devices: .desktop, protection: .complete)
    let second = try await open([changed], in: directory)
    let kept = (1...4).map {
      second.cachedImage(for: Photo(ImageID($0)), format: changed)?.solidNumber
    }
    #expect(kept == [nil, 2, 3, 4])
  }

  @Test(
    "starts afresh when the revision, the pixels, their quality or space, or the frames change",
    arguments: [
      format(revision: 7), format(size: PixelSize(width: 9, height: 8)),
      format(pixelFormat: .bgra32), format(isWhole: true), format(quality: .best),
      format(colorSpace: .displayP3), format(animation: .allFrames(byteLimit: 1 << 20)),
    ])
  func startsAfresh(changed: ImageFormat) async throws {
    let directory = try TemporaryDirectory()
    for (format, isThere) in [
      (format(), false), (format(), true), (changed, false), (changed, true), (format(), false),
    ] {
      let cache = try await open([format], in: directory)
      let image = cache.cachedImage(for: Photo("a"), format: format)
      #expect(
        (image != nil) == isThere && image.map { $0.colorSpace == format.colorSpace } != false)
      try await cache.store(solid(1), for: Photo("a"), format: format)
      await cache.close()
    }
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
    let phone = ImageFormat("p", devices: .phone)
    let fixture = try await Fixture([phone])
    let photo = Photo("a", url: "test:/2")
    let image = try await fixture.image(photo, phone)
    #expect(image.isPrivate && image.solidNumber == 2)
    #expect(!fixture.cache.containsImage(for: photo, format: phone))
    let files = try FileManager.default.contentsOfDirectory(atPath: fixture.cache.directory.path)
    #expect(files.isEmpty)
  }

  @Test("and closing it refuses what comes later and keeps held images")
  func closes() async throws {
    let (fixture, _) = try await Fixture.gated()
    let held = try await fixture.cache.store(solid(4), for: Photo("a"), format: .row)
    let waiting = Task { try await fixture.image(Photo("b")) }
    await fixture.source.started.reaches(1)
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.self) { try await waiting.value }
    await #expect(throws: ImageCacheError.self) { try await fixture.image(Photo("c")) }
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

@Suite("Opening a cache at once", .timeLimit(.minutes(10)))
struct OpeningAtOnceTests {
  private func configuration(_ directory: URL) -> ImageCache.Configuration {
    var configuration = ImageCache.Configuration()
    configuration.directory = directory
    configuration.source = ScriptedSource()
    return configuration
  }

  @Test("finds what an earlier run stored, without an await, in the tables of who waits")
  func findsImages() async throws {
    let directory = try TemporaryDirectory()
    let configuration = configuration(directory.url)
    let earlier = try await ImageCache(
      namespace: "test", formats: [.row], configuration: configuration)
    try await earlier.store(solid(9), for: Photo("a"), format: .row)
    await earlier.close()
    // What a program knows before its first `await`.
    let atOnce = try ImageCache.open(
      namespace: "test", formats: [.row], configuration: configuration)
    #expect(atOnce.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 9)
    let awaited = try await ImageCache(
      namespace: "test", formats: [.row], configuration: configuration)
    #expect(atOnce.directory == awaited.directory && atOnce.namespace == awaited.namespace)
    let photo = Photo("b", url: "test:/4")
    #expect(try await atOnce.image(for: photo, format: .row).solidNumber == 4)
    #expect(awaited.cachedImage(for: photo, format: .row)?.solidNumber == 4)
  }

  @Test("throws what keeps the tables shut")
  func throwsErrors() throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appendingPathComponent("file")
    try Data().write(to: file)
    var strict = configuration(file)
    strict.requiresStorage = true
    #expect {
      try ImageCache.open(formats: [.row], configuration: strict)
    } throws: {
      if case .storageUnavailable? = $0 as? ImageCacheError { true } else { false }
    }
    #expect(throws: ImageCacheError.invalidNamespace("")) {
      try ImageCache.open(namespace: "", formats: [.row])
    }
    #expect(throws: ImageCacheError.duplicateFormat("row")) {
      try ImageCache.open(formats: [.row, .row], configuration: configuration(directory.url))
    }
  }
}

@Suite("A program's own folder", .timeLimit(.minutes(10)))
struct ProgramFolderTests {
  @Test(
    "has the name of the bundle, or the one that the program was started by",
    arguments: [
      ("org.example.Photos", "/usr/bin/photos", "org.example.Photos"),
      (nil, "/usr/bin/photos", "photos"), (nil, "photos", "photos"),
      ("", "./tool_2.0+x", "tool_2.0+x"), (nil, "PackageTests.xctest", "PackageTests.xctest"),
      (nil, "", "unnamed"), (nil, "///", "unnamed"),
    ] as [(String?, String, String)])
  func isNamed(bundle: String?, command: String, name: String) {
    #expect(ProgramFolder.name(bundleIdentifier: bundle, command: command) == name)
  }

  @Test("has one plain name, whatever the program is called, and no other program's")
  func isSafe() {
    let commands = [
      ".", "..", ".hidden", "-bash", "a b", "a\nb", "a\\b", "\u{E9}", "e\u{301}", "a:b", "~",
      String(repeating: "n", count: 101), String(repeating: "n", count: 5000),
      String(repeating: "\u{E9}", count: 300),
    ]
    let names = commands.map { ProgramFolder.name(bundleIdentifier: nil, command: $0) }
    #expect(Set(names.map { $0.lowercased() }).count == commands.count)
    for name in names {
      #expect(name.utf8.count <= 255 && !name.hasPrefix(".") && !name.contains("/"), "\(name)")
      #expect(name.allSatisfy { $0.isASCII && !$0.isWhitespace }, "\(name)")
    }
  }

  @Test("holds the tables of a cache that was given no folder, and leaves older ones alone")
  func holdsTables() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let directory = try TemporaryDirectory()
      // Where Linux has caches, and where Foundation looks for the user's home elsewhere.
      setenv("XDG_CACHE_HOME", directory.url.path, 1)
      setenv("CFFIXED_USER_HOME", directory.url.path, 1)
      let former = try await Fixture(directory: directory)
      try await former.cache.store(solid(3), for: Photo("a"), format: .row)
      let cache = try await ImageCache(namespace: "test", formats: [.large])
      let program = ProgramFolder.name(
        bundleIdentifier: Bundle.main.bundleIdentifier, command: CommandLine.arguments[0])
      let path = Array(cache.directory.pathComponents.suffix(3).prefix(2))
      let isInside = cache.directory.path.hasPrefix(directory.url.path + "/")
      let isThere = former.cache.containsImage(for: Photo("a"), format: .row)
      exit(path == [program, "ImageTables"] && isInside && isThere ? 7 : 1)
    }
  }
}
