import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

/// Two entities, `a` and `b`, name one address whose image changes in place, and say so by their versions.
@Suite("A request of an explicit version", .timeLimit(.minutes(10)))
struct ExplicitVersionTests {
  private let directory: TemporaryDirectory
  private let gate = Gate()

  init() throws { directory = try TemporaryDirectory() }

  /// Serves the image of the number of its request, and holds the first ones back.
  private func server(holding count: Int) throws -> HTTPServer {
    try HTTPServer { [gate] request in
      guard let image = try? solid(request.number).pngData() else { return .status(500) }
      let reply = HTTPReply.ok(image, headers: ["ETag": "\"\(request.number)\""])
      return request.number <= count ? reply.inserting(.wait(gate), after: 10) : reply
    }
  }

  private func photo(_ id: ImageID, _ version: ImageID?, _ url: URL) -> Photo {
    Photo(id, version: version, url: url.absoluteString)
  }

  @Test(
    "joins no load that began for another version, with a kept original or without",
    arguments: [false, true])
  func joinsItsOwnVersion(keeps: Bool) async throws {
    let server = try server(holding: 9)
    let fixture = try await Fixture(from: URLImageSource()) { [directory] in
      if keeps { $0.originals = OriginalStore(directory: directory.url) }
    }
    let (url, cache) = (server.url("/1"), fixture.cache)
    let (older, newer) = (photo("a", "1", url), photo("b", "2", url))
    let first = Task { try await cache.image(for: older, format: .row).solidNumber }
    await server.requests.reaches(1)
    // From here on the server has another image.
    let second = Task { try await cache.image(for: newer, format: .row).solidNumber }
    let other = Task { try await cache.image(for: photo("c", "1", url), format: .row).solidNumber }
    let plain = Task { try await cache.image(for: photo("d", nil, url), format: .row).solidNumber }
    await fixture.subscribers(4)
    gate.open()
    #expect(try await second.value == 2)
    #expect(try await [first.value, other.value] == [1, 1])
    #expect(try await [1, 2].contains(plain.value))
    await cache.loadsHaveEnded()
    #expect(server.requests.value == 2)
    #expect(cache.cachedImage(for: newer, format: .row)?.solidNumber == 2)
    #expect(cache.cachedImage(for: older, format: .row)?.solidNumber == 1)
  }

  @Test("of a file that is replaced while its older version is drawn gets the newer one")
  func readsFileAnew() async throws {
    let drawing = Counter()
    let file = directory.url.appendingPathComponent("photo.png")
    try solid(1).pngData().write(to: file)
    let fixture = try await Fixture(from: URLImageSource()) { [gate] in
      $0.willStore = { _ in
        drawing.increment()
        gate.waitBlocking()
      }
    }
    let cache = fixture.cache
    let first = Task {
      try await cache.image(for: photo("a", "1", file), format: .row).solidNumber
    }
    await drawing.reaches(1)
    try solid(2).pngData().write(to: file)
    let newer = photo("b", "2", file)
    let second = Task { try await cache.image(for: newer, format: .row).solidNumber }
    await fixture.subscribers(2)
    gate.open()
    #expect(try await second.value == 2)
    #expect(try await first.value == 1)
    #expect(cache.cachedImage(for: newer, format: .row)?.solidNumber == 2)
  }

  /// An entity whose larger format has a version of its own.
  private struct Poster: ImageEntity {
    let imageID: ImageID
    let url: URL
    let version: ImageID
    func sourceURL(for format: ImageFormat) -> URL? { url }
    func versionID(for format: ImageFormat) -> ImageID {
      format.name == "16" ? version : defaultVersionID(for: format)
    }
  }

  @Test("is drawn along only with a load that began when its entity named the version")
  func isDrawnAlong() async throws {
    let server = try server(holding: 1)
    let formats = [ImageFormat.square(8), .square(16)]
    let fixture = try await Fixture(formats, from: URLImageSource())
    let (url, cache) = (server.url("/1"), fixture.cache)
    let (older, newer) = (
      Poster(imageID: "a", url: url, version: "1"), Poster(imageID: "b", url: url, version: "2")
    )
    let first = Task { try await cache.image(for: older, format: formats[0]).solidNumber }
    await server.requests.reaches(1)
    // The default version of the small format joins.
    let second = Task { try await cache.image(for: newer, format: formats[0]).solidNumber }
    await fixture.subscribers(2)
    gate.open()
    #expect(try await [first.value, second.value] == [1, 1])
    await cache.loadsHaveEnded()
    #expect(cache.cachedImage(for: older, format: formats[1])?.solidNumber == 1)
    #expect(!cache.containsImage(for: newer, format: formats[1]))
    #expect(try await cache.image(for: newer, format: formats[1]).solidNumber == 2)
  }

  @Test("is not drawn along from a kept original of before it")
  func isNotDrawnFromKept() async throws {
    let number = Lock(1)
    let server = try server(number)
    let formats = [ImageFormat.square(8), .square(16)]
    let fixture = try await Fixture(formats, from: URLImageSource()) { [directory] in
      $0.originals = OriginalStore(directory: directory.url)
    }
    let (url, cache) = (server.url("/1"), fixture.cache)
    func poster(_ version: ImageID) -> Poster { Poster(imageID: "a", url: url, version: version) }
    _ = try await cache.image(for: poster("1"), format: formats[0])
    await cache.loadsHaveEnded()
    try await cache.removeImage(for: poster("1"), format: formats[0])
    number.withLock { $0 = 2 }
    // The default version of the small format may show the kept picture; the large one's may not.
    #expect(try await cache.image(for: poster("2"), format: formats[0]).solidNumber == 1)
    await cache.loadsHaveEnded()
    #expect(
      server.requests.value == 1 && !cache.containsImage(for: poster("2"), format: formats[1]))
    #expect(try await cache.image(for: poster("2"), format: formats[1]).solidNumber == 2)
  }

  /// Serves an image that can be changed, or asked about by its tag.
  private func server(_ number: Lock<Int>) throws -> HTTPServer {
    try HTTPServer { request in
      let number = number.withLock { $0 }
      guard let image = try? solid(number).pngData() else { return .status(500) }
      return HTTPFile(
        image, entityTag: "\"\(number)\"", headers: ["Cache-Control": "max-age=600"]
      ).reply(to: request)
    }
  }

  @Test("is answered by a kept original of another one only once its server was asked")
  func asksAboutKept() async throws {
    let number = Lock(1)
    let server = try server(number)
    let store = OriginalStore(directory: directory.url)
    let fixture = try await Fixture([.row, .large], from: URLImageSource()) {
      $0.originals = store
    }
    let url = server.url("/1")
    func load(_ version: ImageID?, _ format: ImageFormat = .row) async throws -> [Int?] {
      let image = try await fixture.image(photo("a", version, url), format)
      await fixture.cache.loadsHaveEnded()
      return [image.solidNumber, server.requests.value]
    }
    #expect(try await load("1") == [1, 1])
    // The version that it was loaded for, and a default one.
    #expect(try await load("1", .large) == [1, 1])
    #expect(try await load(nil) == [1, 1])
    await #expect(throws: ImageCacheError.self) {
      try await fixture.image(photo("a", "2", url), .row, LoadOptions(scope: .cache))
    }
    // Unchanged it is of the version that was asked for, in the place of the former one.
    #expect(try await load("2") == [1, 2])
    #expect(server.arrivedRequests.last?.headers["if-none-match"] == "\"1\"")
    #expect(try await load("2", .large) == [1, 2])
    #expect(try await store.inspect().map(\.record.version) == ["2"])
    number.withLock { $0 = 2 }
    #expect(try await load("3") == [2, 3])
    #expect(try await load("3", .large) == [2, 3])
    #expect(try await store.inspect().map(\.record.version) == ["3"])
    // No older picture answers where the server cannot be asked.
    #expect(try await fixture.cache.sourceSize(for: photo("a", "3", url), format: .row).width == 16)
    #expect(server.requests.value == 3)
  }

  @Test("is loaded anew from a source that cannot be asked whether an original changed")
  func loadsClosureAnew() async throws {
    let calls = Counter()
    let source = ClosureImageSource { _ in .encoded(try solid(calls.increment()).pngData()) }
    let file = directory.url.appendingPathComponent("store")
    let fixture = try await Fixture(from: source) {
      $0.originals = OriginalStore(directory: file)
    }
    let url = try #require(URL(string: "http://127.0.0.1/1"))
    for (version, number) in [("1", 1), ("2", 2), ("3", 3)] as [(ImageID, Int)] {
      #expect(try await fixture.image(photo("a", version, url)).solidNumber == number)
      await fixture.cache.loadsHaveEnded()
    }
  }

  @Test(
    "serves the load of its version with no original of another one, when its first request has left"
  )
  func keepsLoadsVersion() async throws {
    let number = Lock(1)
    let server = try server(number)
    let fixture = try await Fixture([.row, .large], from: URLImageSource()) { [directory] in
      $0.originals = OriginalStore(directory: directory.url)
      $0.resources = LoadResources(networkWidth: 1)
    }
    let (url, cache) = (server.url("/1"), fixture.cache)
    _ = try await fixture.image(photo("a", "1", url))
    await cache.loadsHaveEnded()
    number.withLock { $0 = 2 }
    // The load of version 2 waits for the only place at the network while its first request leaves.
    let blocker = try HTTPServer([
      "/b": .ok(try solid(9).pngData()).inserting(.wait(gate), after: 9)
    ])
    let holding = Task { try await fixture.image(photo("z", nil, blocker.url("/b"))) }
    await blocker.requests.reaches(1)
    let first = Task { try await fixture.image(photo("b", "2", url)) }
    await fixture.subscribers(2)
    let second = Task { try await cache.image(for: photo("c", "2", url), format: .row).solidNumber }
    await fixture.subscribers(3)
    first.cancel()
    await fixture.subscribers(2)
    gate.open()
    #expect(try await second.value == 2)
    _ = try await holding.value
  }
}
