import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("The way to a web server", .timeLimit(.minutes(10)))
struct HTTPRouteTests {
  @Test("leads through the proxy, which is told the whole address and looks the name up")
  func usesProxy() async throws {
    // Nobody has this name: RFC 6761 section 6.4.
    let address = "http://pictures.invalid/a"
    let proxy = try HTTPServer([address: .ok(Data("a".utf8))])
    var options = HTTPOptions.patient
    options.allowsInsecureHTTP = true
    options.proxy = proxy.url("")
    let image = try #require(URL(string: address))
    #expect(try await bytes(image, from: URLImageSource(http: options)) == Data("a".utf8))
    #expect(proxy.arrivedRequests.map(\.path) == [address])
    #expect(proxy.arrivedRequests.first?.headers["host"] == "pictures.invalid")
  }

  @Test(
    "asks the proxy for a tunnel to https servers, and tells it no header of the image's request")
  func tunnels() async throws {
    let proxy = try HTTPServer { _ in .status(403) }
    var options = HTTPOptions.patient
    options.proxy = proxy.url("")
    options.modifyRequest = { request in
      var request = request
      request.headers["Authorization"] = "Bearer 1"
      return request
    }
    let image = try #require(URL(string: "https://pictures.invalid/a"))
    await #expect(throws: ImageSourceError.self) {
      try await bytes(image, from: URLImageSource(http: options))
    }
    #expect(proxy.arrivedRequests.map(\.path) == ["pictures.invalid:443"])
    #expect(proxy.arrivedRequests.first?.headers["authorization"] == nil)
  }

  @Test("leads straight to this machine, which a proxy would take for itself")
  func avoidsProxy() async throws {
    let proxy = try HTTPServer { _ in .ok(Data("proxy".utf8)) }
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    var options = HTTPOptions.patient
    options.proxy = proxy.url("")
    #expect(
      try await bytes(server.url("/a"), from: URLImageSource(http: options)) == Data("a".utf8))
    #expect(proxy.requests.value == 0)
  }

  @Test("ends in an error where the proxy is gone")
  func needsProxy() async throws {
    var options = HTTPOptions.patient
    options.allowsInsecureHTTP = true
    // No server has the port 1 of this machine, as a rule; if one has, it is no proxy.
    options.proxy = URL(string: "http://127.0.0.1:1")
    let image = try #require(URL(string: "http://pictures.invalid/a"))
    do {
      _ = try await bytes(image, from: URLImageSource(http: options))
      Issue.record("It was loaded.")
    } catch ImageSourceError.network(let text) {
      // The system's words for a refused connection; a lookup of the image's host ends in others.
      #expect(text.localizedCaseInsensitiveContains("connect"), "\(text)")
    }
  }

  @Test("ends where the proxy's scheme is none, and no error tells the proxy's password")
  func refusesProxy() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    var options = HTTPOptions.patient
    options.allowsInsecureHTTP = true
    options.proxy = URL(string: "sock5://user:secret@127.0.0.1:\(server.port)")
    let image = try #require(URL(string: "http://pictures.invalid/a"))
    do {
      _ = try await bytes(image, from: URLImageSource(http: options))
      Issue.record("It was loaded.")
    } catch ImageSourceError.network(let text) {
      #expect(text.contains("HTTPOptions.proxy") && !text.contains("secret"), "\(text)")
    }
    // This machine is reached without it.
    #expect(
      try await bytes(server.url("/a"), from: URLImageSource(http: options)) == Data("a".utf8))
  }

  @Test(
    "fails for https servers, and for no others, where the file of certificates is missing")
  func needsCertificates() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    var options = HTTPOptions.patient
    options.certificateFile = URL(fileURLWithPath: "/nowhere/authorities.pem")
    let image = try #require(URL(string: "https://127.0.0.1:\(server.port)/a"))
    do {
      _ = try await bytes(image, from: URLImageSource(http: options))
      Issue.record("It was loaded.")
    } catch ImageSourceError.network(let text) {
      #expect(text.contains("/nowhere/authorities.pem"))
    }
    // Plain http asks nobody for a certificate.
    #expect(
      try await bytes(server.url("/a"), from: URLImageSource(http: options)) == Data("a".utf8))
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
      var options = HTTPOptions.patient
      options.allowsInsecureHTTP = true
      options.proxy = URL(string: "http://us%40er:se%3Acret@127.0.0.1:\(proxy.port)")
      let image = try #require(URL(string: address))
      #expect(try await bytes(image, from: URLImageSource(http: options)) == Data("a".utf8))
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
    var options = HTTPOptions.patient
    options.userAgent = "Album/1.0 (test)"
    _ = try await bytes(server.url("/b"), from: URLImageSource(http: options))
    #expect(
      server.arrivedRequests.map { $0.headers["user-agent"] } == [
        "Album/1.0 (test)", "Album/1.0 (test)",
      ])
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
      var options = HTTPOptions.patient
      options.userAgent = "Album/1.0"
      options.modifyRequest = { request in
        var request = request
        request.headers[name, default: "Other/2.0"] += " more"
        return request
      }
      _ = try await bytes(server.url("/a"), from: URLImageSource(http: options))
      #expect(server.arrivedRequests.last?.headers["user-agent"] == expected)
    }
  }

  @Test("cannot smuggle in further fields")
  func isChecked() async throws {
    var options = HTTPOptions.patient
    options.userAgent = "Album\r\nX-Other: 1"
    await #expect(throws: ImageSourceError.invalidHeader("User-Agent")) {
      try await bytes(server.url("/a"), from: URLImageSource(http: options))
    }
    #expect(server.requests.value == 0)
  }
}
