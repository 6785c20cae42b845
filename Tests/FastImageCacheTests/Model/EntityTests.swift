import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("An entity", .timeLimit(.minutes(10)))
struct EntityTests {
  @Test("that names the version of one format can leave the others to the default")
  func callsDefaultVersion() {
    struct Plain: ImageEntity {
      let url: URL
      var imageID: ImageID { "plain" }
      func sourceURL(for format: ImageFormat) -> URL? { url }
    }
    struct Marked: ImageEntity {
      let url: URL?
      var imageID: ImageID { "marked" }
      func sourceURL(for format: ImageFormat) -> URL? { url }
      func versionID(for format: ImageFormat) -> ImageID {
        let version = defaultVersionID(for: format)
        return format == .large ? ImageID("\(version) marked") : version
      }
    }
    let url = URL(fileURLWithPath: "/pictures/1")
    #expect(Marked(url: url).versionID(for: .row) == ImageID(url))
    #expect(Marked(url: url).versionID(for: .large) == ImageID("\(url.absoluteString) marked"))
    #expect(Marked(url: nil).versionID(for: .row) == "marked")
    #expect(Plain(url: url).versionID(for: .row) == ImageID(url))
  }

  @Test("may supply one format and leave the other to the source")
  func suppliesOneFormat() async throws {
    let fixture = try await Fixture([.row, .large])
    var photo = Photo("a", url: "test:/5")
    photo.ownImage = { $0.name == "row" ? .bitmap(try solid(44)) : nil }
    let entity = photo
    async let row = fixture.image(entity)
    async let large = fixture.image(entity, .large)
    #expect(try await [row.solidNumber, large.solidNumber] == [44, 5])
    #expect(fixture.source.started.value == 1)
  }

  @Test("that supplies one format lets the last subscriber of the other end the download")
  func endsDownload() async throws {
    let fixture = try await Fixture(
      [.row, .large], source: ScriptedSource(gate: CancellableGate()))
    let both = CancellableGate()
    var photo = Photo("a", url: "test:/5")
    photo.ownImage = { format in
      try await both.pass()
      return format.name == "row" ? .bitmap(try solid(44)) : nil
    }
    let entity = photo
    let row = Task { try await fixture.image(entity) }
    // First, or the load may be told of the other alone, and go to the source with that.
    await fixture.subscribers(1)
    let large = Task { try await fixture.image(entity, .large) }
    await fixture.subscribers(2)
    both.open()
    #expect(try await row.value.solidNumber == 44)
    await fixture.source.started.reaches(1)
    large.cancel()
    await #expect(throws: ImageCacheError.self) { try await large.value }
    await fixture.source.cancelled.reaches(1)
    await fixture.quiet()
    #expect(await fixture.cache.statistics().cancellations == 1)
  }

  @Test("that supplies one format causes no download when nobody waits for the other any more")
  func downloadsForNobody() async throws {
    let fixture = try await Fixture([.row, .large])
    let (asked, answer) = (Counter(), CancellableGate())
    var photo = Photo("a", url: "test:/5")
    photo.ownImage = { format in
      guard format.name == "row" else { return nil }
      asked.increment()
      try await answer.pass()
      return .bitmap(try solid(44))
    }
    let (entity, first) = (photo, CancellableGate())
    var opening = photo
    opening.id = "b"
    opening.ownImage = { _ in
      try await first.pass()
      return .bitmap(try solid(1))
    }
    // Holds the load until both others have joined it, so that both are taken together.
    let holder = opening
    let held = Task { try await fixture.image(holder) }
    await fixture.subscribers(1)
    let large = Task { try await fixture.image(entity, .large) }
    await fixture.subscribers(2)
    let row = Task { try await fixture.image(entity) }
    await fixture.subscribers(3)
    first.open()
    await asked.reaches(1)
    large.cancel()
    await #expect(throws: ImageCacheError.self) { try await large.value }
    answer.open()
    #expect(try await row.value.solidNumber == 44)
    _ = try await held.value
    await fixture.quiet()
    #expect(fixture.source.started.value == 0)
  }

  @Test("without URL and image is told so, each of its subscribers")
  func needsSomething() async throws {
    let fixture = try await Fixture([.row, .large])
    var photo = Photo("a")
    photo.url = nil
    for format in [ImageFormat.row, .large] {
      await #expect(throws: ImageCacheError.noSourceURL(entity: "a", format: format.name)) {
        try await fixture.image(photo, format)
      }
    }
    await fixture.quiet()
  }

  @Test("without URL can still supply every image")
  func needsNoURL() async throws {
    let fixture = try await Fixture([.row, .large])
    var photo = Photo("a")
    photo.url = nil
    photo.ownImage = { _ in .bitmap(try solid(8)) }
    let entity = photo
    let numbers = try await withThrowingTaskGroup { group in
      for number in 0..<40 {
        group.addTask {
          try await fixture.image(entity, number % 2 == 0 ? .row : .large)
            .solidNumber
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(numbers == [8])
  }

  @Test("whose own image fails hears the error, and the others of its URL their image")
  func failsAlone() async throws {
    struct Broken: Error {}
    let (fixture, gate) = try await Fixture.gated()
    var broken = Photo("a", url: "test:/5")
    broken.ownImage = { _ in
      try await gate.pass()
      throw Broken()
    }
    let entity = broken
    let failing = Task { try await fixture.image(entity) }
    let fine = Task { try await fixture.image(Photo("b", url: "test:/5")) }
    await fixture.subscribers(2)
    gate.open()
    await #expect(throws: ImageCacheError.self) { try await failing.value }
    #expect(try await fine.value.solidNumber == 5)
  }

  @Test("keeps its image's proportions in a format up to a size")
  func keepsProportions() async throws {
    let upTo = ImageFormat("u", 100, isFitting: true)
    let sizes = [
      "wide": PixelSize(width: 400, height: 200), "tall": PixelSize(width: 100, height: 1000),
      "small": PixelSize(width: 30, height: 20), "thin": PixelSize(width: 5000, height: 2),
    ]
    let fixture = try await Fixture(
      [upTo],
      source: ScriptedSource { url, _, _ in
        .bitmap(try solid(5, size: sizes[url.lastPathComponent] ?? PixelSize(width: 1, height: 1)))
      })
    var drawn: [String: PixelSize] = [:]
    for name in sizes.keys {
      let photo = Photo(ImageID(name), url: "test:/\(name)")
      let image = try await fixture.image(photo, upTo)
      #expect(image.solidNumber == 5)
      drawn[name] = image.size
    }
    let expected = [
      "wide": PixelSize(width: 100, height: 50), "tall": PixelSize(width: 10, height: 100),
      "small": PixelSize(width: 30, height: 20), "thin": PixelSize(width: 100, height: 1),
    ]
    #expect(drawn == expected)
    await fixture.cache.close()
    let second = try await Fixture([upTo], directory: fixture.directory)
    let wide = second.cache.cachedImage(for: Photo("wide", url: "test:/wide"), format: upTo)
    #expect(wide?.size == PixelSize(width: 100, height: 50) && wide?.solidNumber == 5)
  }
}

@Suite("A URL as an entity", .timeLimit(.minutes(10)))
struct URLEntityTests {
  private let url = URL(fileURLWithPath: "/pictures/7")

  @Test("is found again by the same URL, and removed by it or its id")
  func isFoundByItsText() async throws {
    let fixture = try await Fixture()
    let same = try #require(URL(string: "file:///pictures/7"))
    try await fixture.cache.store(solid(3), for: url, format: .row)
    #expect(fixture.cache.cachedImage(for: same, format: .row)?.solidNumber == 3)
    #expect(fixture.cache.containsImage(for: ImageID(same), format: .row))
    try await fixture.cache.removeImage(for: same, format: .row)
    #expect(!fixture.cache.containsImage(for: url, format: .row))
    try await fixture.cache.store(solid(3), for: url, format: .row)
    try await fixture.cache.removeImages(for: ImageID(url))
    #expect(!fixture.cache.containsImage(for: url, format: .row))
  }
}

@Suite("The version of an entity", .timeLimit(.minutes(10)))
struct VersionQuestionTests {
  @Test("is asked once for a hit, awaited or not")
  func hit() async throws {
    let fixture = try await Fixture([.large, .dot, .row])
    let count = Counter()
    var photo = Photo("a", url: "test:/5")
    try await fixture.cache.store(solid(5), for: photo, format: .large)
    photo.willTellSource = { _ in count.increment() }
    _ = try await fixture.image(photo, .large)
    _ = fixture.cache.cachedImage(for: photo, format: .large)
    #expect(count.value == 2)
  }
}

@Suite("A placeholder's hash", .timeLimit(.minutes(10)))
struct PlaceholderHashTests {
  @Test("is drawn in the proportions of its place, or in its own, 32 pixels along the longer side")
  func draws() throws {
    let blur = PlaceholderHash.blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    let data = try #require(Data(base64Encoded: "2fcZFIB3iId/h3iJh4aIYJ2V8g=="))
    for (place, size) in [
      (PixelSize(width: 600, height: 300), PixelSize(width: 32, height: 16)),
      (PixelSize(width: 1, height: 5000), PixelSize(width: 1, height: 32)),
      (PixelSize(width: 8, height: 4), PixelSize(width: 32, height: 16)),
      (PixelSize(width: .max, height: .max), PixelSize(width: 32, height: 32)),
    ] {
      #expect(try blur.makeBitmap(proportions: place).size == size)
      #expect(
        try PlaceholderHash.thumbHash(data).makeBitmap(proportions: place).size
          == PixelSize(width: 32, height: 18))
    }
  }

  @Test("without sense, or for no place, is an error")
  func refuses() {
    let place = PixelSize(width: 4, height: 4)
    for hash in [PlaceholderHash.blurHash("LEHV"), .thumbHash(Data([1, 2]))] {
      #expect(throws: BitmapError.self) { try hash.makeBitmap(proportions: place) }
    }
    let none = PixelSize(width: 0, height: 4)
    #expect(throws: BitmapError.invalidSize(none)) {
      try PlaceholderHash.blurHash("00OZZy").makeBitmap(proportions: none)
    }
  }
}
