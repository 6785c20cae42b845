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
    async let row = fixture.cache.image(for: entity, format: .row)
    async let large = fixture.cache.image(for: entity, format: .large)
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
    let row = Task { try await fixture.cache.image(for: entity, format: .row) }
    // First, or the load may be told of the other alone, and go to the source with that.
    await fixture.subscribers(1)
    let large = Task { try await fixture.cache.image(for: entity, format: .large) }
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
    let held = Task { try await fixture.cache.image(for: holder, format: .row) }
    await fixture.subscribers(1)
    let large = Task { try await fixture.cache.image(for: entity, format: .large) }
    await fixture.subscribers(2)
    let row = Task { try await fixture.cache.image(for: entity, format: .row) }
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
      do throws(ImageCacheError) {
        _ = try await fixture.cache.image(for: photo, format: format)
        Issue.record("There was an image.")
      } catch {
        guard case .noSourceURL(entity: "a", format: format.name) = error else { throw error }
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
          try await fixture.cache.image(for: entity, format: number % 2 == 0 ? .row : .large)
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
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    var broken = Photo("a", url: "test:/5")
    broken.ownImage = { _ in
      try await gate.pass()
      throw Broken()
    }
    let entity = broken
    let failing = Task { try await fixture.cache.image(for: entity, format: .row) }
    let fine = Task { try await fixture.cache.image(for: Photo("b", url: "test:/5"), format: .row) }
    await fixture.subscribers(2)
    gate.open()
    await #expect(throws: ImageCacheError.self) { try await failing.value }
    #expect(try await fine.value.solidNumber == 5)
  }

  @Test("keeps its image's proportions in a format up to a size")
  func keepsProportions() async throws {
    let upTo = ImageFormat(
      name: "u", size: .fitting(PixelSize(width: 100, height: 100)), pixelFormat: .bgrx32,
      capacity: 4)
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
      let image = try await fixture.cache.image(for: photo, format: upTo)
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
