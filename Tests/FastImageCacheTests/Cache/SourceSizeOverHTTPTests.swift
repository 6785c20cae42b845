import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("The size of a source over http", .timeLimit(.minutes(10)))
struct SourceSizeOverHTTPTests {
  private static let size = PixelSize(width: 200, height: 150)

  enum Answer: CaseIterable { case whole, chunked, slow, cut, redirected }

  /// An image of many bytes.
  private let image: Data
  private let directory: TemporaryDirectory

  init() throws {
    var numbers = SplitMix64(state: 1)
    image = try Bitmap(layout: PixelLayout(for: Self.size, format: .bgrx32)) { bytes in
      for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: numbers.next()) }
    }.pngData()
    directory = try TemporaryDirectory()
  }

  private func fixture(keepsOriginals: Bool = false) async throws -> Fixture {
    try await Fixture(from: URLImageSource(http: .patient)) { [directory] in
      guard keepsOriginals else { return }
      $0.originals = OriginalStore(
        directory: directory.url.appending(path: "originals"), byteLimit: 1 << 24)
    }
  }

  private func photo(_ server: HTTPServer, _ path: String) -> Photo {
    Photo(ImageID(path), url: server.url(path).absoluteString)
  }

  private func reply(_ answer: Answer) -> HTTPReply {
    let chunks = stride(from: 0, to: image.count, by: 500).map { image[$0...].prefix(500) }
    return switch answer {
    case .whole: .ok(image)
    case .chunked: .chunked(chunks.map { .bytes(Data($0)) })
    // Whoever waits for more waits until the time limit.
    case .slow: HTTPReply.ok(image).inserting(.wait(Gate()), after: 1500)
    case .cut: HTTPReply.ok(image).inserting(.cut, after: 1500)
    case .redirected: .redirect(to: "/whole")
    }
  }

  @Test(
    "comes of each answer, and the source goes on", arguments: Answer.allCases, [false, true])
  func comes(_ answer: Answer, _ keepsOriginals: Bool) async throws {
    let server = try HTTPServer(["/a": reply(answer), "/whole": .ok(image)])
    let fixture = try await fixture(keepsOriginals: keepsOriginals)
    #expect(
      try await fixture.cache.sourceSize(for: photo(server, "/a"), format: .row) == Self.size)
    #expect(try await fixture.image(photo(server, "/whole")).sourceSize == Self.size)
    if answer == .slow { await server.abandonments.reaches(1) }
    await fixture.cache.close()
  }

  @Test("comes of a hundred images at once")
  func comesOfMany() async throws {
    let server = try HTTPServer { [image] _ in .ok(image) }
    let fixture = try await fixture()
    try await withThrowingTaskGroup(of: PixelSize.self) { group in
      for number in 1...100 {
        group.addTask {
          try await fixture.cache.sourceSize(for: photo(server, "/\(number)"), format: .row)
        }
      }
      for try await size in group { #expect(size == Self.size) }
    }
    #expect(try await fixture.image(photo(server, "/1")).sourceSize == Self.size)
  }

  @Test("fails with the server, and with the caller's cancellation, and the source goes on")
  func fails() async throws {
    let server = try HTTPServer([
      "/wait": HTTPReply.ok(image).inserting(.wait(Gate()), after: 0), "/whole": .ok(image),
    ])
    let fixture = try await fixture()
    await #expect(
      throws: ImageCacheError.sourceFailed(
        server.url("/none"), underlying: ImageSourceError.httpStatus(404))
    ) { try await fixture.cache.sourceSize(for: photo(server, "/none"), format: .row) }
    let asking = Task {
      try await fixture.cache.sourceSize(for: photo(server, "/wait"), format: .row)
    }
    await server.requests.reaches(2)
    asking.cancel()
    await #expect(throws: ImageCacheError.cancelled) { try await asking.value }
    #expect(try await fixture.image(photo(server, "/whole")).sourceSize == Self.size)
  }
}
