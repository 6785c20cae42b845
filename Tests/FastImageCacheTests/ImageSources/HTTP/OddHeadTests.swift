#if !canImport(Darwin)
  import Foundation
  import TestSupport
  import Testing

  @testable import FastImageCache
  @testable import ImageSources

  @Suite("An odd head that browsers read", .timeLimit(.minutes(10)))
  struct OddHeadTests {
    private static let body = Data("a picture's bytes".utf8)

    /// A reply of lines as they stand.
    private static func reply(_ lines: String..., ending: [HTTPReply.Step] = []) -> HTTPReply {
      let head = lines.map { $0 + "\r\n" }.joined() + "\r\n"
      return HTTPReply([.bytes(Data(head.utf8) + body)] + ending)
    }

    private static let length = "Content-Length: \(body.count)"

    private static let replies: [String: HTTPReply] = [
      "/identity": reply("HTTP/1.1 200 OK", "Transfer-Encoding: identity", length),
      "/text": reply("HTTP/1.1 200 OK", "Content-Length: many", ending: [.cut]),
      "/no-length": reply("HTTP/1.1 200 OK", "Content-Length:", ending: [.cut]),
      "/negative": reply("HTTP/1.1 200 OK", "Content-Length: -17", ending: [.cut]),
      "/first": reply("HTTP/1.1 200 OK", "a line without a mark", length),
      "/last": reply("HTTP/1.1 200 OK", length, "a line without a mark"),
      "/empty-line": reply("\r\nHTTP/1.1 200 OK", length),
    ]

    @Test("brings its body", arguments: replies.keys.sorted())
    func bringsBody(_ path: String) async throws {
      let server = try HTTPServer(Self.replies.merging(["/b": .ok(Self.body)]) { $1 })
      let source = URLImageSource(http: .patient)
      for path in [path, "/b", path] {
        #expect(try await bytes(server.url(path), from: source) == Self.body)
      }
    }

    @Test("says what a right one says, and is refused where its body comes in chunks or it is none")
    func saysTheSame() async throws {
      let mark = "a line without a mark"
      let server = try HTTPServer([
        "/404": Self.reply("HTTP/1.1 404 None", mark, Self.length),
        "/304": Self.reply("HTTP/1.1 304 Same", mark, Self.length),
        "/302": Self.reply("HTTP/1.1 302 Found", mark, "Location: /b?c=d%20e", Self.length),
        "/103": Self.reply("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK", mark, Self.length),
        "/chunked": Self.reply("HTTP/1.1 200 OK", mark, "Transfer-Encoding: chunked"),
        "/none": Self.reply("220 A mail server", Self.length),
        "/lines": HTTPReply([.endless(Data("\r\n".utf8))]),
        "/line": HTTPReply([
          .bytes(Data("HTTP/1.1 200 OK\r\n\(mark)\r\na".utf8)),
          .endless(Data(repeating: 97, count: 1000)),
        ]),
        "/b?c=d%20e": Self.reply("HTTP/1.1 200 OK", mark, Self.length),
      ])
      await #expect(throws: ImageSourceError.httpStatus(404)) {
        try await bytes(server.url("/404"))
      }
      await #expect(throws: ImageSourceError.httpStatus(304)) {
        try await bytes(server.url("/304"))
      }
      for path in ["/302", "/103"] { #expect(try await bytes(server.url(path)) == Self.body) }
      let refusals = [
        "/chunked": "colon", "/none": "HTTP/0.9", "/lines": "HTTP/0.9", "/line": "colon",
      ]
      for (path, words) in refusals {
        let error = await networkError(server.url(path))
        #expect(error?.contains(words) == true, "\(path): \(error ?? "")")
      }
      let second = server.arrivedRequests(for: "/404")
      #expect(second.count == 2)
      #expect(second.first?.headers["user-agent"] == second.last?.headers["user-agent"])
      #expect(second.first?.headers["host"] == second.last?.headers["host"])
    }

    @Test("keeps the names that the caller gave, and is asked for once where the request is long")
    func asksAgain() async throws {
      let server = try HTTPServer { _ in Self.reply("HTTP/1.1 200 OK", "no mark", Self.length) }
      let source = URLImageSource { options in
        options.changeRequests {
          $0.headers["host"] = "photos.example"
          $0.headers["CONNECTION"] = "keep-alive"
        }
      }
      #expect(try await bytes(server.url("/a"), from: source) == Self.body)
      #expect(
        server.arrivedRequests.map { $0.headers["host"] } == ["photos.example", "photos.example"])
      #expect(server.arrivedRequests.last?.headers["connection"] == "close")
      // A server that reads nothing would hold up all others.
      let long = "/" + String(repeating: "a", count: 5000)
      #expect(await networkError(server.url(long))?.contains("colon") == true)
      #expect(server.requests.value == 3)
    }

    @Test("is refused behind a proxy, by which no request passes")
    func keepsToProxy() async throws {
      let proxy = try HTTPServer { _ in Self.reply("HTTP/1.1 200 OK", "no mark", Self.length) }
      let source = URLImageSource { ($0.allowsInsecureHTTP, $0.proxy) = (true, proxy.url("")) }
      let image = try #require(URL(string: "http://pictures.invalid/a"))
      #expect(await networkError(image, from: source)?.contains("colon") == true)
      #expect(proxy.requests.value == 1)
    }

    @Test("whose trailers have no end is left at a limit")
    func endlessTrailers() async throws {
      var reply = HTTPReply.chunked([.bytes(Self.body)])
      reply.steps.removeLast()
      let line = Data("X: ".utf8) + Data(repeating: 120, count: 1000) + Data("\r\n".utf8)
      reply.steps += [.bytes(Data("0\r\n".utf8)), .endless(line)]
      let server = try HTTPServer(["/a": reply, "/b": .ok(Self.body)])
      let source = URLImageSource(http: .patient)
      let error = await networkError(server.url("/a"), from: source)
      #expect(error?.contains("head") == true)
      #expect(try await bytes(server.url("/b"), from: source) == Self.body)
    }
  }
#endif
