import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("The request hook", .timeLimit(.minutes(10)))
struct HTTPRequestHookTests {
  private struct Refusal: Error, Equatable {}

  @Test("adds headers")
  func headers() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    var options = HTTPOptions.patient
    options.modifyRequest = { request in
      var request = request
      request.headers["Authorization"] = "Bearer 1"
      return request
    }
    _ = try await bytes(server.url("/a"), from: URLImageSource(http: options))
    #expect(server.arrivedRequests.first?.headers["authorization"] == "Bearer 1")
  }

  @Test("refuses by throwing, and nothing is asked")
  func refuses() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    var options = HTTPOptions.patient
    options.modifyRequest = { _ in throw Refusal() }
    await #expect(throws: Refusal()) {
      try await bytes(server.url("/a"), from: URLImageSource(http: options))
    }
    #expect(server.requests.value == 0)
  }

  @Test("cannot lead out of the web")
  func cannotLeave() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    var options = HTTPOptions.patient
    options.modifyRequest = { _ in HTTPRequest(url: URL(fileURLWithPath: "/etc/passwd")) }
    await #expect(throws: ImageSourceError.unsupportedScheme("file")) {
      try await bytes(server.url("/a"), from: URLImageSource(http: options))
    }
  }

  @Test(
    "cannot smuggle in further fields",
    arguments: [
      ("X-Key", "1\r\nX-Other: 2"), ("X-Key\r\nX-Other", "1"), ("X Key", "1"), ("", "1"),
      ("X-Key", "1\0"),
    ])
  func cannotInject(_ name: String, _ value: String) async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    var options = HTTPOptions.patient
    options.modifyRequest = { request in
      var request = request
      request.headers[name] = value
      return request
    }
    await #expect(throws: ImageSourceError.invalidHeader(name)) {
      try await bytes(server.url("/a"), from: URLImageSource(http: options))
    }
    #expect(server.requests.value == 0)
  }
}
