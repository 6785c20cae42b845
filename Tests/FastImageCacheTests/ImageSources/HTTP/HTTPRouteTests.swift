import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("The way to a web server", .timeLimit(.minutes(10)))
struct HTTPRouteTests {
  /// A source that may use plain http, through a proxy.
  private func source(_ proxy: URL?) -> URLImageSource {
    URLImageSource { ($0.allowsInsecureHTTP, $0.proxy) = (true, proxy) }
  }

  @Test("leads through the proxy, which is told the whole address and looks the name up")
  func usesProxy() async throws {
    // Nobody has this name: RFC 6761 section 6.4.
    let address = "http://pictures.invalid/a"
    let proxy = try HTTPServer([address: .ok(Data("a".utf8))])
    let image = try #require(URL(string: address))
    #expect(try await bytes(image, from: source(proxy.url(""))) == Data("a".utf8))
    #expect(proxy.arrivedRequests.map(\.path) == [address])
    #expect(proxy.arrivedRequests.first?.headers["host"] == "pictures.invalid")
  }

  @Test("has a proxy make a tunnel to https servers, and tells it no header of the request")
  func tunnels() async throws {
    let proxy = try HTTPServer { _ in .status(403) }
    let source = URLImageSource {
      $0.proxy = proxy.url("")
      $0.changeRequests { $0.headers["Authorization"] = "Bearer 1" }
    }
    let image = try #require(URL(string: "https://pictures.invalid/a"))
    await #expect(throws: ImageSourceError.self) { try await bytes(image, from: source) }
    #expect(proxy.arrivedRequests.map(\.path) == ["pictures.invalid:443"])
    #expect(proxy.arrivedRequests.first?.headers["authorization"] == nil)
  }

  @Test("leads straight to this machine, which a proxy would take for itself")
  func avoidsProxy() async throws {
    let proxy = try HTTPServer { _ in .ok(Data("proxy".utf8)) }
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    #expect(try await bytes(server.url("/a"), from: source(proxy.url(""))) == Data("a".utf8))
    #expect(proxy.requests.value == 0)
  }

  @Test("ends in an error where the proxy is gone")
  func needsProxy() async throws {
    // No server has the port 1 of this machine, as a rule; if one has, it is no proxy.
    let source = source(URL(string: "http://127.0.0.1:1"))
    let image = try #require(URL(string: "http://pictures.invalid/a"))
    // The system's words for a refused connection; a lookup of the image's host ends in others.
    let text = try #require(await networkError(image, from: source))
    #expect(text.localizedCaseInsensitiveContains("connect"), "\(text)")
  }

  @Test("ends where the proxy's scheme is none, and no error tells the proxy's password")
  func refusesProxy() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    let source = source(URL(string: "sock5://user:secret@127.0.0.1:\(server.port)"))
    let image = try #require(URL(string: "http://pictures.invalid/a"))
    let text = try #require(await networkError(image, from: source))
    #expect(text.contains("HTTPOptions.proxy") && !text.contains("secret"), "\(text)")
    // This machine is reached without it.
    #expect(try await bytes(server.url("/a"), from: source) == Data("a".utf8))
  }

  @Test("fails for https servers, and for no others, where the file of certificates is missing")
  func needsCertificates() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    let source = URLImageSource {
      $0.certificateFile = URL(fileURLWithPath: "/nowhere/authorities.pem")
    }
    let image = try #require(URL(string: "https://127.0.0.1:\(server.port)/a"))
    let error = await networkError(image, from: source)
    #expect(error?.contains("/nowhere/authorities.pem") == true)
    // Plain http asks nobody for a certificate.
    #expect(try await bytes(server.url("/a"), from: source) == Data("a".utf8))
  }
}

#if !canImport(Darwin)
  @Suite("The way to no web server", .timeLimit(.minutes(10)))
  struct HTTPOfflineTests {
    @Test("is known to lead nowhere where the system says so")
    func isOffline() async throws {
      // To a multicast address no connection leads, on any machine, whatever networks it has.
      let image = try #require(URL(string: "https://224.0.0.1/a"))
      await #expect(throws: ImageSourceError.offline) { try await bytes(image) }
    }
  }

  @Suite("A proxy's user", .timeLimit(.minutes(10)))
  struct HTTPProxyUserTests {
    @Test("is told to the proxy, as written before percent encoding")
    func isTold() async throws {
      let address = "http://pictures.invalid/a"
      let proxy = try HTTPServer([address: .ok(Data("a".utf8))])
      let source = URLImageSource {
        $0.allowsInsecureHTTP = true
        $0.proxy = URL(string: "http://us%40er:se%3Acret@127.0.0.1:\(proxy.port)")
      }
      let image = try #require(URL(string: address))
      #expect(try await bytes(image, from: source) == Data("a".utf8))
      let expected = "Basic " + Data("us@er:se:cret".utf8).base64EncodedString()
      #expect(proxy.arrivedRequests.first?.headers["proxy-authorization"] == expected)
    }
  }
#endif

@Suite("The user agent", .timeLimit(.minutes(10)))
struct UserAgentTests {
  private let server: HTTPServer

  init() throws { server = try HTTPServer(["/a": .ok(Data("a".utf8)), "/b": .redirect(to: "/a")]) }

  @Test("is told with every request of a load")
  func isTold() async throws {
    let name = "Album/1.0 (test)"
    _ = try await bytes(server.url("/b"), from: URLImageSource { $0.userAgent = name })
    #expect(server.arrivedRequests.map { $0.headers["user-agent"] } == [name, name])
  }

  #if !canImport(Darwin)
    @Test("names the library where the program names nothing")
    func isOurs() async throws {
      _ = try await bytes(server.url("/b"))
      let names = server.arrivedRequests.map { $0.headers["user-agent"] ?? "" }
      #expect(names.count == 2 && Set(names).count == 1)
      #expect(names.first?.wholeMatch(of: /FastImageCache\/\d+\.\d+\.\d+/) != nil, "\(names)")
    }
  #endif

  @Test("can be changed by the request hook, whose own counts in whatever case that is written")
  func isReplaced() async throws {
    for (name, expected) in [("User-Agent", "Album/1.0 more"), ("user-agent", "Other/2.0 more")] {
      let source = URLImageSource {
        $0.userAgent = "Album/1.0"
        $0.changeRequests { $0.headers[name, default: "Other/2.0"] += " more" }
      }
      _ = try await bytes(server.url("/a"), from: source)
      #expect(server.arrivedRequests.last?.headers["user-agent"] == expected)
    }
  }

  @Test("cannot smuggle in further fields")
  func isChecked() async throws {
    let source = URLImageSource { $0.userAgent = "Album\r\nX-Other: 1" }
    await #expect(throws: ImageSourceError.invalidHeader("User-Agent")) {
      try await bytes(server.url("/a"), from: source)
    }
    #expect(server.requests.value == 0)
  }
}

@Suite("A proxy's URL", .timeLimit(.minutes(10)))
struct HTTPProxyTests {
  private func proxy(_ text: String, _ support: HTTPProxy.Support = .curl) throws -> HTTPProxy {
    try HTTPProxy(try #require(URL(string: text)), support)
  }

  @Test(
    "is taken apart, so that the address has no password",
    arguments: [
      ("http://proxy.example.com:3128", "http://proxy.example.com:3128", 3128),
      ("SOCKS5H://user:secret@proxy.example.com", "SOCKS5H://proxy.example.com", 1080),
      ("https://user:secret@[::1]:9/", "https://[::1]:9/", 9),
      ("socks4a://user@10.0.0.1:9", "socks4a://10.0.0.1:9", 9),
    ])
  func parts(_ text: String, _ address: String, _ port: Int) throws {
    let proxy = try proxy(text)
    #expect(proxy.address == address)
    #expect(proxy.port == port)
  }

  @Test(
    "is refused, in words without a password, where the system cannot use it",
    arguments: [
      ("sock5://user:secret@proxy.example.com", false), ("ftp://secret", false),
      ("secret.example.com:3128", false), ("user:secret@proxy.example.com:80", false),
      ("http://user:secret@", false), ("http:", false), ("/secret", false),
      ("https://proxy.example.com", true), ("socks5h://proxy.example.com", true),
      ("http://user:secret@proxy.example.com", true), ("http://user@proxy.example.com", true),
      ("socks5://proxy.example.com", true),
    ])
  func refusals(_ text: String, _ isForLinux: Bool) throws {
    let isForApple = text == "socks5://proxy.example.com"
    for (support, isTaken) in [
      (HTTPProxy.Support.curl, isForLinux), (HTTPProxy.Support.urlSession, isForApple),
    ] {
      do {
        _ = try proxy(text, support)
        #expect(isTaken)
      } catch ImageSourceError.network(let reason) {
        #expect(!isTaken)
        #expect(!reason.contains("secret") && !reason.contains("user:"), "\(reason)")
      }
    }
  }

  @Test("of the environment is told apart in libcurl's errors, which quote it")
  func quotes() {
    #expect(HTTPProxy.isQuoted(in: "Unsupported proxy scheme for 'sock5://user:secret@a'"))
    #expect(HTTPProxy.isQuoted(in: "Unsupported proxy syntax in 'user:secret@'"))
    #expect(!HTTPProxy.isQuoted(in: "Could not resolve proxy: a"))
  }
}
