import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The request hook", .timeLimit(.minutes(10)))
struct HTTPRequestHookTests {
  private struct Refusal: Error, Equatable {}

  private let server: HTTPServer

  init() throws { server = try HTTPServer(["/a": .ok(Data("a".utf8))]) }

  /// A source whose hook changes requests.
  private func source(
    _ change: @escaping @Sendable (inout HTTPRequest) throws -> Void
  ) -> URLImageSource {
    URLImageSource { $0.changeRequests(change) }
  }

  @Test("refuses by throwing, and nothing is asked")
  func refuses() async throws {
    await #expect(throws: Refusal()) {
      try await bytes(server.url("/a"), from: source { _ in throw Refusal() })
    }
    #expect(server.requests.value == 0)
  }

  @Test("cannot lead out of the web")
  func cannotLeave() async throws {
    let source = source { $0.url = URL(fileURLWithPath: "/etc/passwd") }
    await #expect(throws: ImageSourceError.unsupportedScheme("file")) {
      try await bytes(server.url("/a"), from: source)
    }
  }

  @Test(
    "cannot smuggle in further fields",
    arguments: [
      ("X-Key", "1\r\nX-Other: 2"), ("X-Key\r\nX-Other", "1"), ("X Key", "1"), ("", "1"),
      ("X-Key", "1\0"),
    ])
  func cannotInject(_ name: String, _ value: String) async throws {
    await #expect(throws: ImageSourceError.invalidHeader(name)) {
      try await bytes(server.url("/a"), from: source { $0.headers[name] = value })
    }
    #expect(server.requests.value == 0)
  }

  @Test(
    "cannot make a request conditional",
    arguments: ["Range", "If-Range", "if-none-match", "IF-MODIFIED-SINCE"])
  func cannotCondition(_ name: String) async throws {
    await #expect(throws: ImageSourceError.reservedHeader(name)) {
      try await bytes(server.url("/a"), from: source { $0.headers[name] = "1" })
    }
    // Nor can the headers of one request.
    var request = ImageSourceRequest(url: server.url("/a"))
    request.headers = [name: "1"]
    await #expect(throws: ImageSourceError.reservedHeader(name)) {
      _ = try await URLImageSource(http: .patient).response(to: request)
    }
    #expect(server.requests.value == 0)
  }

  @Test(
    "sees the account and the request's own headers, which replace the source's; here no entity")
  func seesAccount() async throws {
    let source = source { request in
      #expect(request.firstEntity == nil)
      let account = request.account?.name ?? ""
      request.headers["X-Seen"] = "\(account) \(request.headers["accept"] ?? "")"
    }
    var request = ImageSourceRequest(url: server.url("/a"))
    request.account = AccountID("alice")
    request.headers = ["accept": "image/webp", "X-Own": "1"]
    _ = try await source.response(to: request)
    let headers = try #require(server.arrivedRequests.first?.headers)
    #expect(headers["x-seen"] == "alice image/webp")
    #expect(headers["accept"] == "image/webp" && headers["x-own"] == "1")
  }

  @Test("may add fields to a redirected request, whose own headers stay with their host")
  func headersStay() async throws {
    let other = try HTTPServer(["/b": .ok(Data("a".utf8))])
    let server = try HTTPServer([
      "/a": .redirect(to: "/c"), "/c": .redirect(to: other.url("/b").absoluteString),
    ])
    var request = ImageSourceRequest(url: server.url("/a"))
    request.headers = ["Authorization": "secret"]
    _ = try await URLImageSource(http: .patient).response(to: request)
    #expect(server.arrivedRequests.map { $0.headers["authorization"] } == ["secret", "secret"])
    #expect(other.arrivedRequests.map { $0.headers["authorization"] } == [nil])
  }

  @Test("and a source lead the request's own headers to no other host")
  func headersStayElsewhere() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8)), "/b": .ok(Data("a".utf8))])
    let other = try HTTPServer { _ in .ok(Data("a".utf8)) }
    var request = ImageSourceRequest(url: server.url("/a"))
    request.headers = ["Authorization": "secret"]
    for (target, isKept) in [(server.url("/b"), true), (other.url("/b"), false)] {
      let moved = request.with(url: target)
      #expect(moved.headers == (isKept ? request.headers : [:]))
      _ = try await URLImageSource(http: .patient).response(to: moved)

      let hooked = source { request in
        request.url = target
        request.headers["X-Hook"] = "1"
      }
      _ = try await hooked.response(to: request)
    }
    #expect(server.arrivedRequests.map { $0.headers["authorization"] } == ["secret", "secret"])
    #expect(other.arrivedRequests.map { $0.headers["authorization"] } == [nil, nil])
    #expect(other.arrivedRequests.map { $0.headers["x-hook"] } == [nil, "1"])
  }

  @Test("is told which entity asked first, and of no other that shares the load")
  func seesEntity() async throws {
    let server = try HTTPServer(["/a": .redirect(to: "/b"), "/b": .ok(Data("a".utf8))])
    let gate = Gate()
    let (asked, seen) = (Counter(), Lock<[ImageID?]>([]))
    let source = URLImageSource {
      $0.modifyRequest = { request in
        seen.withLock { $0.append(request.firstEntity) }
        asked.increment()
        await gate.pass()
        return request
      }
    }
    let fixture = try await Fixture { $0.source = source }
    let url = server.url("/a").absoluteString
    let waiting = Task { try await fixture.image(Photo("first", url: url)) }
    await asked.reaches(1)
    let joining = Task { try await fixture.image(Photo("second", url: url)) }
    await fixture.subscribers(2)
    gate.open()
    // The answer is no image.
    _ = await (waiting.result, joining.result)
    #expect(seen.withLock { $0 } == ["first", "first"])
  }
}
