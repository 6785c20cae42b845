import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

@Suite("An HTTP source", .timeLimit(.minutes(10)))
struct HTTPImageSourceTests {
  private static let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
  private let gate = Gate()

  private let body = Self.body

  @Test("brings a body in chunks, and one that ends with the connection")
  func unannouncedLength() async throws {
    let server = try HTTPServer([
      "/chunked": .chunked([.bytes(body.prefix(10)), .bytes(body.dropFirst(10))]),
      "/closed": .untilClose([.bytes(body)]),
    ])
    #expect(try await bytes(server.url("/chunked")) == body)
    #expect(try await bytes(server.url("/closed")) == body)
  }

  @Test("reads chunks to their end, whatever length is announced", arguments: [10, 200_000])
  func chunksAndLength(_ length: Int) async throws {
    var reply = HTTPReply.chunked([.bytes(body)])
    let fields = ["Transfer-Encoding": "chunked", "Content-Length": "\(length)"]
    reply.steps[0] = .bytes(HTTPReply.head(200, fields))
    let server = try HTTPServer(["/a": reply])
    #expect(try await bytes(server.url("/a")) == body)
  }

  @Test(
    "takes no end for the end of a body that is announced to have more bytes than can be counted",
    arguments: ["99999999999999999999999", "99999999999999999999999, 99999999999999999999999"])
  func uncountable(_ length: String) async throws {
    let fields = ["Content-Length": length, "Connection": "close"]
    let server = try HTTPServer([
      "/a": HTTPReply([.bytes(HTTPReply.head(200, fields)), .bytes(body), .cut])
    ])
    await #expect(throws: ImageSourceError.self) { try await bytes(server.url("/a")) }
  }

  @Test("reports what has arrived and how much was announced, up to the end")
  func progress() async throws {
    let server = try HTTPServer([
      "/a": .lying(
        contentLength: 100_000,
        [.bytes(body.prefix(1000)), .wait(gate), .bytes(body.dropFirst(1000))])
    ])
    let reports = Lock<[ImageSourceProgress]>([])
    let result = try await bytes(server.url("/a")) { report in
      reports.withLock { $0.append(report) }
      // The rest is not sent before this report has come, so it reports a part.
      if report.receivedByteCount == 1000 { gate.open() }
    }
    #expect(result == body)
    let counts = reports.withLock { $0.map(\.receivedByteCount) }
    #expect(counts.contains(1000))
    #expect(counts == counts.sorted())
    #expect(counts.last == 100_000)
    #expect(reports.withLock { $0.allSatisfy { $0.expectedByteCount == 100_000 } })
  }

  @Test(
    "takes no other status", arguments: [204, 206, 300, 304, 400, 404, 410, 500, 503])
  func status(_ status: Int) async throws {
    let body = [204, 304].contains(status) ? Data() : body
    let server = try HTTPServer(["/a": .status(status, body: body)])
    await #expect(throws: ImageSourceError.httpStatus(status)) {
      try await bytes(server.url("/a"))
    }
  }

  @Test("reports a body that is shorter than announced, or whose chunks are cut")
  func shortBody() async throws {
    let server = try HTTPServer([
      "/a": .lying(contentLength: 200_000, [.bytes(body), .cut]),
      "/b": .chunked([.bytes(body), .cut]),
    ])
    for (path, expected) in [("/a", 200_000), ("/b", nil)] as [(String, Int?)] {
      await #expect(throws: ImageSourceError.truncatedBody(received: 100_000, expected: expected)) {
        try await bytes(server.url(path))
      }
    }
  }

  @Test("takes no more than was announced")
  func longBody() async throws {
    let server = try HTTPServer(["/a": .lying(contentLength: 1000, [.bytes(body)])])
    #expect(try await bytes(server.url("/a")) == body.prefix(1000))
  }

  @Test("takes neither an interim answer nor a trailer for the answer")
  func interimAndTrailer() async throws {
    let interim = Data("HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\n\r\n".utf8)
    let head = HTTPReply.head(200, ["Transfer-Encoding": "chunked", "Trailer": "Content-Length"])
    let end = Data("1\r\na\r\n0\r\nContent-Length: 999\r\n\r\n".utf8)
    let server = try HTTPServer(["/a": HTTPReply([.bytes(interim + head + end)])])
    #expect(try await bytes(server.url("/a")) == Data("a".utf8))
  }

  @Test("reports an answer that is no HTTP, and a server that hangs up without one")
  func noAnswer() async throws {
    for steps in [[.bytes(body), .cut], [.cut]] as [[HTTPReply.Step]] {
      let server = try HTTPServer(["/a": HTTPReply(steps)])
      #expect(await networkError(server.url("/a"))?.isEmpty == false)
    }
  }

  @Test("reports a server that is not there")
  func noServer() async throws {
    // No server has the port 1 of this machine, as a rule. That of a server that is gone may be taken.
    let url = try #require(URL(string: "http://127.0.0.1:1/a"))
    #expect(await networkError(url)?.isEmpty == false)
  }

  @Test("refuses an announced length above the limit before the body arrives")
  func announcedTooLarge() async throws {
    defer { gate.open() }
    let server = try HTTPServer(["/a": .lying(contentLength: 1001, [.wait(gate)])])
    await #expect(throws: ImageSourceError.tooLarge(byteCountLimit: 1000)) {
      try await bytes(server.url("/a"), limit: 1000)
    }
    await server.abandonments.reaches(1)
  }

  @Test("takes a body of exactly the limit, and an empty one, whatever the server calls them")
  func exactlyTheLimit() async throws {
    let server = try HTTPServer([
      "/a": .ok(body, headers: ["Content-Type": "text/html"]), "/chunked": .chunked([.bytes(body)]),
      "/empty": .ok(Data()),
    ])
    #expect(try await bytes(server.url("/a"), limit: 100_000) == body)
    #expect(try await bytes(server.url("/chunked"), limit: 100_000) == body)
    #expect(try await bytes(server.url("/empty"), limit: 0) == Data())
  }

  @Test("leaves an endless body at the limit")
  func endless() async throws {
    let server = try HTTPServer(["/a": .chunked([.endless(body)])])
    await #expect(throws: ImageSourceError.tooLarge(byteCountLimit: 1_000_000)) {
      try await bytes(server.url("/a"), limit: 1_000_000)
    }
    await server.abandonments.reaches(1)
  }

  @Test("leaves a head without end at a limit")
  func endlessHead() async throws {
    let server = try HTTPServer([
      "/a": HTTPReply([
        .bytes(Data("HTTP/1.1 200 OK\r\n".utf8)), .endless(Data("X: 1234567890\r\n".utf8)),
      ])
    ])
    let source = URLImageSource { $0.retry = RetryPolicy() }
    let error = await networkError(server.url("/a"), from: source)
    #expect(error?.contains("head") == true)
    await server.abandonments.reaches(1)
    #expect(server.requests.value == 1)
  }

  @Test("counts a compressed body as it comes out, not as it was sent")
  func bomb() async throws {
    let bomb = Gzip.zeros(count: 300_000)
    #expect(bomb.count < 3000)
    let reply = HTTPReply.ok(bomb, headers: ["Content-Encoding": "gzip"])
    let server = try HTTPServer(["/a": reply])
    await #expect(throws: ImageSourceError.tooLarge(byteCountLimit: 200_000)) {
      try await bytes(server.url("/a"), limit: 200_000)
    }
    #expect(try await bytes(server.url("/a"), limit: 300_000) == Data(count: 300_000))
  }

  @Test(
    "takes the bytes as they are where their coding is none",
    arguments: ["UTF-8", "aws-chunked", "identity", "none", "binary, utf-8", ""])
  func unknownCoding(_ coding: String) async throws {
    let server = try HTTPServer(["/a": .ok(body, headers: ["Content-Encoding": coding])])
    #expect(try await bytes(server.url("/a")) == body)
    #expect(server.requests.value == 1)
  }

  @Test("asks for nothing that it would have to decompress")
  func acceptedEncoding() async throws {
    let server = try HTTPServer(["/a": .ok(body)])
    _ = try await bytes(server.url("/a"))
    #expect(server.arrivedRequests.first?.headers["accept-encoding"] == "identity")
  }

  @Test("tells no server of a fragment")
  func fragment() async throws {
    let server = try HTTPServer(["/a?b": .ok(body)])
    #expect(try await bytes(server.url("/a?b#c")) == body)
  }

  @Test("fetches anew what the server allows to be cached, and sends no cookies that it has set")
  func noCache() async throws {
    let fields = ["Cache-Control": "max-age=3600", "Set-Cookie": "who=me; Path=/"]
    let server = try HTTPServer(["/a": .ok(body, headers: fields)])
    let source = URLImageSource(http: .patient)
    for _ in 0..<2 { _ = try await bytes(server.url("/a"), from: source) }
    #expect(server.arrivedRequests.map { $0.headers["cookie"] } == [nil, nil])
  }

  @Test("takes no connection at all for one", arguments: [0, -1])
  func noConnection(_ count: Int) async throws {
    let server = try HTTPServer(["/a": .ok(body)])
    let source = URLImageSource { $0.connectionsPerHost = count }
    #expect(try await bytes(server.url("/a"), from: source) == body)
  }

  @Test("keeps to the number of connections per host")
  func connections() async throws {
    let server = try HTTPServer { _ in HTTPReply([.wait(gate)] + HTTPReply.ok(Data("a".utf8)).steps)
    }
    let source = URLImageSource { $0.connectionsPerHost = 2 }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<8 {
        group.addTask { _ = try await bytes(server.url("/\(index)"), from: source) }
      }
      await server.requests.reaches(2)
      gate.open()
      try await group.waitForAll()
    }
    #expect(server.requests.value == 8)
    #expect(server.mostConcurrentReplies <= 2)
  }
}
