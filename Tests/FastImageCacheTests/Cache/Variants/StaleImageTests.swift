import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Images marked stale", .timeLimit(.minutes(10)))
struct StaleImageTests {
  private let photo = Photo("a")
  private let originals = MemoryOriginals()

  private func closest(
    _ photo: Photo, _ format: ImageFormat, in fixture: Fixture
  ) -> (number: Int?, kind: ImagePreview.Kind)? {
    fixture.cache.bestCachedImage(for: photo, format: format).map {
      ($0.image.solidNumber, $0.preview.kind)
    }
  }

  @Test("are misses that go on being shown, in all formats, until the next ones are there")
  func areShown() async throws {
    let source = ScriptedSource { _, call, _ in .bitmap(try solid(call)) }
    let fixture = try await Fixture([.row, .large], source: source)
    for format in [ImageFormat.row, .large] {
      _ = try await fixture.image(photo, format)
      // The next request would join a load that has not ended.
      await fixture.quiet()
    }
    try await fixture.cache.markStale(photo)
    #expect(fixture.cache.cachedFormats(for: photo).isEmpty)
    #expect(closest(photo, .row, in: fixture)?.kind == .stale)
    #expect(closest(photo, .row, in: fixture)?.number == 1)
    #expect(fixture.cache.bestCachedImage(for: photo, format: .row, fallback: .none) == nil)
    #expect(try await fixture.image(photo).solidNumber == 3)
    #expect(closest(photo, .row, in: fixture)?.kind == .variant(.row))
    #expect(closest(photo, .large, in: fixture)?.number == 2)
    try await fixture.cache.removeImages(for: photo)
    #expect(closest(photo, .large, in: fixture) == nil)
  }

  @Test("are stored and kept by no load that began before; later requests load anew")
  func forbidsLoads() async throws {
    let (first, second) = (CancellableGate(), CancellableGate())
    let source = EncodedSource { _, call in
      try await (call == 1 ? first : second).pass()
      return .encoded(try solid(call).pngData())
    }
    let fixture = try await Fixture(from: source, originals: originals)
    let old = Task { try await fixture.image(photo) }
    await source.started.reaches(1)
    try await fixture.cache.markStale(photo)
    let new = Task { try await fixture.image(photo) }
    await source.started.reaches(2)
    first.open()
    #expect(try await old.value.solidNumber == 1)
    #expect(originals.count == 0 && !fixture.cache.containsImage(for: photo, format: .row))
    second.open()
    #expect(try await new.value.solidNumber == 2)
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 2)
    #expect(originals["test:/a"]?.bytes == (try solid(2).pngData()))
  }

  @Test("have their kept originals revalidated before these answer", arguments: [false, true])
  func revalidates(isInMemory: Bool) async throws {
    let directory = try TemporaryDirectory()
    let memory = MemoryOriginals()
    let store = OriginalStore(directory: directory.url)
    let source = EncodedSource { request, call in
      let terms = ResponseMetadata(fields: ["ETag": "\"\(call)\""], received: Date())
      if request.known?.isWhole == true, call == 2 { return .unchanged(terms) }
      return .encoded(try solid(call).pngData())
    }
    let fixture = try await Fixture(from: source) { configuration in
      if isInMemory { configuration.keeper = memory } else { configuration.originals = store }
    }
    for (number, count) in [(1, 1), (1, 2), (3, 3)] {
      let image = try await fixture.image(photo)
      #expect(image.solidNumber == number && source.started.value == count)
      await fixture.cache.loadsHaveEnded()
      try await fixture.cache.markStale(photo)
    }
    #expect(source.requests.map { $0.known != nil } == [false, true, true])
  }

  @Test(
    "have no original kept or confirmed by other caches' older loads", arguments: [false, true])
  func forbidsOtherCaches(isKept: Bool) async throws {
    let gate = CancellableGate()
    let directory = try TemporaryDirectory()
    let store = OriginalStore(directory: directory.url)
    let source = EncodedSource { request, call in
      let fields = ["ETag": "\"1\"", "Cache-Control": "max-age=600"]
      let terms = ResponseMetadata(fields: fields, received: Date())
      if call == (isKept ? 2 : 1) { try await gate.pass() }
      return request.known?.isWhole == true
        ? .unchanged(terms) : .encoded(try solid(call).pngData())
    }
    let marking = try await Fixture(from: source) { $0.originals = store }
    let other = try await Fixture(from: source) { $0.originals = store }
    if isKept {
      _ = try await marking.cache.image(for: photo, format: .row)
      await marking.cache.loadsHaveEnded()
    }
    let load = Task {
      try await other.cache.image(for: photo, format: .row, options: LoadOptions(.revalidate))
    }
    await source.started.reaches(isKept ? 2 : 1)
    try await marking.cache.markStale(photo)
    gate.open()
    #expect(try await load.value.solidNumber == 1)
    await other.cache.loadsHaveEnded()
    #expect(try await store.inspect().map(\.isFresh) == (isKept ? [false] : []))
  }

  /// A source that calls unchanged whatever it is asked about.
  private func unchangingSource() -> EncodedSource {
    EncodedSource { request, call in
      let terms = ResponseMetadata(fields: ["ETag": "\"\(call)\""], received: Date())
      return request.known?.isWhole == true
        ? .unchanged(terms) : .encoded(try solid(call).pngData())
    }
  }

  @Test("have their own original revalidated once, for all formats")
  func revalidatesOnce() async throws {
    let source = unchangingSource()
    let fixture = try await Fixture([.row, .large], from: source, originals: MemoryOriginals())
    for count in [1, 2] {
      for format in [ImageFormat.row, .large] {
        _ = try await fixture.image(photo, format)
        await fixture.cache.loadsHaveEnded()
        #expect(source.started.value == count)
      }
      try await fixture.cache.markStale(photo)
    }
  }

  @Test("have an original revalidated that another entity of the same URL has loaded")
  func revalidatesShared() async throws {
    let source = unchangingSource()
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    let (owner, other) = (Photo("a", url: "test:/1"), Photo("b", url: "test:/1"))
    func load(_ photo: Photo, _ format: ImageFormat) async throws -> Int {
      _ = try await fixture.image(photo, format)
      await fixture.cache.loadsHaveEnded()
      return source.started.value
    }
    #expect(try await load(owner, .row) == 1)
    #expect(try await load(other, .row) == 1)
    try await fixture.cache.markStale(other)
    // The owner's image is as before, and the mark holds for formats too that had no image: the server is asked once.
    #expect(try await load(owner, .row) == 1)
    #expect(try await load(other, .large) == 2)
    #expect(try await load(owner, .large) == 2)
    #expect(try await load(other, .row) == 2)
    #expect(originals.confirmed.value == 1)
  }

  @Test("and then evicted have that original revalidated, of whichever account")
  func marksOutliveImages() async throws {
    let (number, directory) = (Counter(), try TemporaryDirectory())
    let server = try HTTPServer { request in
      guard let image = try? solid(number.value).pngData() else { return .status(500) }
      return HTTPFile(
        image, entityTag: "\"\(number.value)\"", headers: ["Cache-Control": "max-age=600"]
      ).reply(to: request)
    }
    let fixture = try await Fixture([.row, .large], from: URLImageSource()) {
      $0.originals = OriginalStore(directory: directory.url)
    }
    let url = server.url("/1").absoluteString
    let (owner, other) = (Photo("a", url: url), Photo("b", url: url))
    var options = LoadOptions()
    options.account = AccountID("alice")
    for photo in [owner, other] {
      for options in [LoadOptions(), options] {
        _ = try await fixture.image(photo, .row, options)
        await fixture.cache.loadsHaveEnded()
        try await fixture.cache.removeImage(for: photo, format: .row)
      }
    }
    #expect(server.requests.value == 2)
    // There is no image that could hold the mark.
    try await fixture.cache.markStale(other)
    number.increment()
    for (count, options) in [(3, LoadOptions()), (4, options)] {
      let image = try await fixture.image(owner, count == 3 ? .row : .large, options)
      await fixture.cache.loadsHaveEnded()
      #expect(image.solidNumber == 1 && server.requests.value == count)
    }
  }

  @Test("stay misses where their server fails, and stay shown")
  func staysWithFailure() async throws {
    let source = EncodedSource { _, call in
      guard call == 1 else { throw ImageSourceError.httpStatus(503) }
      return .encoded(try solid(call).pngData())
    }
    let fixture = try await Fixture(from: source, originals: originals)
    _ = try await fixture.image(photo)
    await fixture.quiet()
    try await fixture.cache.markStale(photo)
    await #expect(throws: ImageCacheError.self) { try await fixture.image(photo) }
    #expect(closest(photo, .row, in: fixture)?.number == 1)
    #expect(!fixture.cache.containsImage(for: photo, format: .row))
  }

  @Test("of a closed cache throw")
  func throwsClosed() async throws {
    let fixture = try await Fixture()
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.self) { try await fixture.cache.markStale(Photo("a")) }
  }
}
