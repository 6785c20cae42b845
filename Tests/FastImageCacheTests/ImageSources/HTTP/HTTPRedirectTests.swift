import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("An HTTP redirect", .timeLimit(.minutes(10)))
struct HTTPRedirectTests {
  private let body = Data("picture".utf8)

  @Test("is followed", arguments: [301, 302, 303, 307, 308])
  func followed(_ status: Int) async throws {
    let server = try HTTPServer(["/a": .redirect(status, to: "/b"), "/b": .ok(body)])
    #expect(try await bytes(server.url("/a")) == body)
  }

  @Test(
    "that leads nowhere brings its body, unless that is no picture",
    arguments: [301, 302, 303, 307, 308], [[:], ["Location": ""]])
  func leadsNowhere(_ status: Int, _ location: [String: String]) async throws {
    func reply(_ type: String?) -> HTTPReply {
      var headers = location
      headers["Content-Type"] = type
      return .status(status, headers: headers, body: body)
    }
    let server = try HTTPServer([
      "/image": reply("image/png"), "/untyped": reply(nil), "/text": reply("text/html"),
      "/json": reply("application/json"), "/none": .status(status, headers: location),
    ])
    for path in ["/image", "/untyped"] { #expect(try await bytes(server.url(path)) == body) }
    for path in ["/text", "/json", "/none"] {
      await #expect(throws: ImageSourceError.httpStatus(status)) {
        try await bytes(server.url(path))
      }
    }
  }

  @Test("leads where a browser would go, with bytes beyond ASCII as they are")
  func latin() async throws {
    let body = body
    let server = try HTTPServer { request in
      if request.path != "/a" { return request.path == "/caf%E9" ? .ok(body) : .status(404) }
      let head = Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf".utf8)
      return HTTPReply([.bytes(Data(head + [0xE9] + Array("\r\n\r\n".utf8)))])
    }
    #expect(try await bytes(server.url("/a")) == body)
  }

  @Test("is followed twenty times and not once more")
  func chain() async throws {
    let body = body
    let server = try HTTPServer { request in
      let step = Int(request.path.dropFirst()) ?? 0
      return step == 0 ? .ok(body) : .redirect(to: "/\(step - 1)")
    }
    #expect(try await bytes(server.url("/20")) == body)
    await #expect(throws: ImageSourceError.tooManyRedirects(limit: 20)) {
      try await bytes(server.url("/21"))
    }
  }

  @Test("is not followed where none is allowed, nor where less than none is")
  func refusesAll() async throws {
    let body = body
    let server = try HTTPServer(["/a": .redirect(to: "/b"), "/b": .ok(body)])
    let source = URLImageSource { $0.redirectLimit = -1 }
    #expect(try await bytes(server.url("/b"), from: source) == body)
    await #expect(throws: ImageSourceError.tooManyRedirects(limit: 0)) {
      try await bytes(server.url("/a"), from: source)
    }
  }

  @Test(
    "never leads out of the web",
    arguments: ["file:///etc/passwd", "ftp://127.0.0.1/a", "data:,abc", "gopher://127.0.0.1/"])
  func outOfTheWeb(_ target: String) async throws {
    let server = try HTTPServer(["/a": .redirect(to: target)])
    let to = try #require(URL(string: target))
    await #expect(throws: ImageSourceError.redirectRefused(from: server.url("/a"), to: to)) {
      try await bytes(server.url("/a"))
    }
  }

  @Test("carries no credentials along, and each address is authorised anew")
  func credentials() async throws {
    let other = try HTTPServer(["/b": .ok(body)])
    let server = try HTTPServer(["/a": .redirect(to: other.url("/b").absoluteString)])
    let port = Int(server.port)
    let source = URLImageSource {
      $0.changeRequests { if $0.url.port == port { $0.headers["X-Key"] = "secret" } }
    }
    #expect(try await bytes(server.url("/a"), from: source) == body)
    #expect(server.arrivedRequests.map { $0.headers["x-key"] } == ["secret"])
    #expect(other.arrivedRequests.map { $0.headers["x-key"] } == [nil])
  }

  @Test("with a target that makes no sense is an error, not a crash", arguments: strangeTargets)
  func strange(_ target: String) async throws {
    let server = try HTTPServer(["/a": .redirect(to: target)])
    // Some are names of hosts, and the answer that there is no such host may take long.
    let source = URLImageSource { $0.totalTimeout = .seconds(5) }
    await #expect(throws: ImageSourceError.self) {
      try await bytes(server.url("/a"), from: source)
    }
  }

  private static let strangeTargets = [
    "http://", "http:///a", "http://[::1", "//", "http://127.0.0.1:99999/", "%", "\u{FF}\u{FE}",
    "http://a b/", "?", "#", "http://user:pass@/", "http://%00/", "..", "https://", ":", "//h:-1/",
    "//%2F", "//a%5Bb/", "//a%20b/", "//a%40b/", "//h%3A80/x", "//h%00/", "///", "////x", "//@/x",
  ]
}

@Suite("The target of a redirect", .timeLimit(.minutes(10)))
struct RedirectTargetTests {
  /// As browsers resolve these, which follow WHATWG's URL standard.
  @Test(
    "is the address that a browser goes to",
    arguments: [
      ("/b", "https://example.com/b"), ("b?c=d e", "https://example.com/x/b?c=d%20e"),
      ("\\b", "https://example.com/b"), ("..\\b\\c", "https://example.com/b/c"),
      ("\\\\cdn.example\\b", "https://cdn.example/b"),
      ("/\\cdn.example/b", "https://cdn.example/b"),
      ("////cdn.example/b", "https://cdn.example/b"),
      ("http:\\\\cdn.example", "http://cdn.example"),
      ("http:/cdn.example/b", "http://cdn.example/b"), ("http:cdn.example", "http://cdn.example"),
      ("HTTPS:///cdn.example/b", "https://cdn.example/b"), ("https:/b", "https://example.com/b"),
      ("https:b", "https://example.com/x/b"), (" /b\t ", "https://example.com/b"),
      ("/a\tb", "https://example.com/ab"), ("?b\\c", "https://example.com/x/a?b%5Cc"),
      ("/b#c\\d", "https://example.com/b#c%5Cd"), ("/b:c\\d", "https://example.com/b:c/d"),
      ("/caf\u{E9}", "https://example.com/caf%C3%A9"), ("/caf%E9", "https://example.com/caf%E9"),
      ("ftp:\\\\a", "ftp:%5C%5Ca"),
    ])
  func resolved(_ location: String, _ target: String) throws {
    let base = try #require(URL(string: "https://example.com/x/a"))
    #expect(RedirectTarget.url(location, relativeTo: base)?.absoluteString == target)
  }
}

@Suite("The HTTP policy", .timeLimit(.minutes(10)))
struct HTTPPolicyTests {
  @Test(
    "takes plain http from this machine only",
    arguments: [
      ("http://localhost/a", true), ("http://127.0.0.1:8080/a", true), ("http://127.1.2.3/", true),
      ("http://[::1]/a", true), ("HTTP://LOCALHOST/", true), ("https://example.com/a", true),
      ("http://example.com/a", false), ("http://127.0.0.1.example.com/", false),
      ("http://localhost.example.com/", false), ("http://10.0.0.1/", false),
      ("http://127.0.0.300/", false), ("http://127.0.0.1@example.com/", false),
      ("http://127.0.0.-0/", false), ("http://127.0.0.+1/", false), ("http://127.0.0.09/", false),
      ("http://127.0.0./", false), ("http://127.0.0.0/", true), ("http://127.0.10.255/", true),
    ])
  func plainHTTP(_ address: String, _ isAllowed: Bool) throws {
    let url = try #require(URL(string: address))
    let policy = HTTPPolicy(allowsInsecureHTTP: false)
    if isAllowed {
      #expect(throws: Never.self) { try policy.check(url) }
    } else {
      #expect(throws: ImageSourceError.insecureHTTPRefused(url)) { try policy.check(url) }
    }
    #expect(throws: Never.self) { try HTTPPolicy(allowsInsecureHTTP: true).check(url) }
  }

  @Test("lets no redirect lead from https to http, whatever is allowed")
  func downgrade() throws {
    let secure = try #require(URL(string: "https://example.com/a"))
    let plain = try #require(URL(string: "http://localhost/a"))
    for policy in [HTTPPolicy(allowsInsecureHTTP: true), HTTPPolicy(allowsInsecureHTTP: false)] {
      #expect(throws: ImageSourceError.redirectRefused(from: secure, to: plain)) {
        try policy.checkRedirect(from: secure, to: plain)
      }
      #expect(throws: Never.self) { try policy.checkRedirect(from: plain, to: secure) }
    }
  }

  @Test("lets a redirect lead to plain http elsewhere only where that is allowed")
  func redirectToPlainHTTP() throws {
    let here = try #require(URL(string: "http://localhost/a"))
    let elsewhere = try #require(URL(string: "http://example.com/a"))
    #expect(throws: ImageSourceError.redirectRefused(from: here, to: elsewhere)) {
      try HTTPPolicy(allowsInsecureHTTP: false).checkRedirect(from: here, to: elsewhere)
    }
    #expect(throws: Never.self) {
      try HTTPPolicy(allowsInsecureHTTP: true).checkRedirect(from: here, to: elsewhere)
    }
  }
}

@Suite("A URL source", .timeLimit(.minutes(10)))
struct URLImageSourceTests {
  @Test("names a scheme that it does not load", arguments: ["ftp", "photo", "javascript"])
  func scheme(_ scheme: String) async throws {
    let url = try #require(URL(string: "\(scheme)://example.com/a"))
    await #expect(throws: ImageSourceError.unsupportedScheme(scheme)) { try await bytes(url) }
  }

  @Test("refuses plain http to other machines, and asks nobody")
  func insecure() async throws {
    let url = try #require(URL(string: "http://example.invalid/a"))
    await #expect(throws: ImageSourceError.insecureHTTPRefused(url)) { try await bytes(url) }
  }
}
