import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The progress of a load says where its bytes came from:", .timeLimit(.minutes(10)))
struct ByteOriginTests {
  private let image: Data
  private let terms: ResponseMetadata

  init() throws {
    image = try solid(7).pngData()
    terms = ResponseMetadata(
      fields: ["ETag": #""x""#, "Content-Length": "\(image.count)"], received: Date())
  }

  private func origins(
    _ fixture: Fixture, _ options: LoadOptions = LoadOptions(), photo: Photo = Photo("7")
  ) async -> [ByteOrigin] {
    var origins: [ByteOrigin] = []
    for await step in fixture.cache.progress(for: photo, format: .row, options: options) {
      if case .arrived(let origin) = step { origins.append(origin) }
    }
    return origins
  }

  @Test("the source; no origin for an image that its table has")
  func ofSource() async throws {
    let fixture = try await Fixture(from: EncodedSource())
    #expect(await origins(fixture) == [.source])
    #expect(await origins(fixture) == [])
    #expect(await origins(fixture, LoadOptions(.reload)) == [.source])
  }

  @Test("an earlier load and the source; a repetition within the load is none")
  func ofEarlierLoads() async throws {
    let source = EncodedSource { [image, terms] request, call in
      var arrival = request.begin(terms, continuing: request.known)
      if call == 2 {
        // As the source for web servers does after a request that broke off.
        try arrival.append(image.dropFirst(arrival.byteCount).prefix(10))
        var known = KnownOriginal(terms: terms, bytes: arrival.bytes, isWhole: false)
        known.earlierByteCount = arrival.earlierByteCount
        arrival = request.begin(terms, continuing: known)
      }
      let end = call == 1 ? 20 : image.count
      try arrival.append(image.prefix(end).dropFirst(arrival.byteCount))
      if call == 1 { throw ImageSourceError.network("cut") }
      return .arrived(arrival)
    }
    let fixture = try await Fixture(from: source)
    #expect(await origins(fixture) == [])
    #expect(await origins(fixture) == [.resumed(after: 20, of: image.count)])
  }

  @Test("a web server whose answer broke off within the load, and the source alone")
  func ofRetries() async throws {
    let file = HTTPFile(image, entityTag: #""x""#)
    let server = try HTTPServer { request in
      let reply = file.reply(to: request)
      return request.number == 1 ? reply.inserting(.cut, after: 20) : reply
    }
    var options = HTTPOptions()
    options.retry.firstDelay = .zero
    let fixture = try await Fixture(from: URLImageSource(http: options))
    let photo = Photo("7", url: server.url("/7").absoluteString)
    #expect(await origins(fixture, photo: photo) == [.source])
    #expect(server.arrivedRequests(for: "/7").map { $0.headers["range"] } == [nil, "bytes=20-"])
  }

  @Test("a store; a store and the source that calls it unchanged; the source that replaces it")
  func ofStore() async throws {
    let originals = MemoryOriginals()
    try originals.put(7, as: "test:/7")
    let other = try solid(8).pngData()
    let source = EncodedSource { [image, terms] _, call in
      switch call {
      case 1: .unchanged(terms)
      case 2: .encoded(image)
      default: .encoded(other)
      }
    }
    let fixture = try await Fixture(from: source, originals: originals)
    #expect(await origins(fixture) == [.original])
    // The same bytes say so, too.
    for expected in [ByteOrigin.unchanged, .unchanged, .source] {
      let found = await origins(fixture, LoadOptions(.revalidate))
      #expect(found == [expected])
      // An equal request would join the load while it keeps its original.
      await fixture.quiet()
    }
  }

  @Test("bytes that turn out to be no image are followed by another origin")
  func ofSecondTry() async throws {
    let originals = MemoryOriginals()
    originals["test:/7"] = MemoryOriginals.Entry(
      bytes: image.prefix(image.count / 2), terms: terms, entity: "a")
    originals.opened.increment()
    let fixture = try await Fixture(from: EncodedSource(), originals: originals)
    // The first may not have been read before the second takes its place.
    let origins = await origins(fixture)
    #expect(origins.last == .source && [[], [.original]].contains(origins.dropLast()))
  }
}
