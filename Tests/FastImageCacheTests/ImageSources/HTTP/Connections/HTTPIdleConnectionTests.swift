import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Idle connections", .timeLimit(.minutes(10)))
struct HTTPIdleConnectionTests {
  private let body = Data("a picture".utf8)

  private func load(_ url: URL, from source: URLImageSource) async throws -> Data? {
    try await source.response(to: ImageSourceRequest(url: url)).encodedData
  }

  @Test("serve the next request, and are closed when memory is short")
  func closes() async throws {
    let server = try HTTPServer(["/a": .ok(body)])
    let source = URLImageSource(http: .patient)
    for _ in 0..<2 { #expect(try await load(server.url("/a"), from: source) == body) }
    #expect(server.endedConnections.value == 0)
    for count in 1...3 {
      source.closeIdleConnections()
      await server.endedConnections.reaches(count)
      #expect(try await load(server.url("/a"), from: source) == body)
    }
  }

  @Test("are closed when the last download under way is over, which goes on")
  func closesLater() async throws {
    let gate = Gate()
    let server = try HTTPServer([
      "/a": .ok(body),
      "/held": .lying(
        contentLength: 9, [.bytes(body.prefix(4)), .wait(gate), .bytes(body.dropFirst(4))]),
    ])
    let source = URLImageSource(http: .patient)
    let held = Task { try await load(server.url("/held"), from: source) }
    await server.requests.reaches(1)
    source.closeIdleConnections()
    // A request that begins meanwhile is served as well.
    #expect(try await load(server.url("/a"), from: source) == body)
    #expect(server.endedConnections.value == 0)
    gate.open()
    #expect(try await held.value == body)
    await server.endedConnections.reaches(2)
    #expect(try await load(server.url("/a"), from: source) == body)
  }

  @Test("of a source that has connected to nothing are none")
  func none() async throws {
    let (server, source) = (try HTTPServer(["/a": .ok(body)]), URLImageSource(http: .patient))
    source.closeIdleConnections()
    #expect(try await load(server.url("/a"), from: source) == body)
    #expect(server.endedConnections.value == 0)
  }
}
