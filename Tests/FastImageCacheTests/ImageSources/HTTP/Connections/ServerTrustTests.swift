#if !canImport(Darwin)
  import Foundation
  import TestSupport
  import Testing

  @testable import FastImageCache
  @testable import ImageSources

  @Suite("The trust in an https server", .timeLimit(.minutes(10)))
  struct ServerTrustTests {
    private static let otherPin = "sha256//\(Data(count: 32).base64EncodedString())"
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func options(_ trust: ServerTrust) -> HTTPOptions {
      var options = HTTPOptions.patient
      options.serverTrust = trust
      options.certificateFile = folder.url.appending(path: "certificate.pem")
      return options
    }

    @Test("needs one of the pinned keys, and a certificate besides")
    func pins() async throws {
      let server = try await TLSServer(in: folder.url)
      let (url, pin) = (try server.url, server.pin)
      for trust in [ServerTrust.system, .pinned([pin]), .pinned([Self.otherPin, pin])] {
        #expect(try await bytes(url, from: URLImageSource(http: options(trust))) == Data("a".utf8))
      }
      await #expect(throws: ImageSourceError.serverNotTrusted("127.0.0.1")) {
        try await bytes(url, from: URLImageSource(http: options(.pinned([Self.otherPin]))))
      }
      // The key does not replace the certificate.
      var unsigned = options(.pinned([pin]))
      unsigned.certificateFile = nil
      unsigned.retry = .never
      let error = await networkError(url, from: URLImageSource(http: unsigned))
      #expect(error?.contains("certificate") == true)
    }

    @Test("is that of an answer with an odd head, too, which is asked for twice")
    func oddHead() async throws {
      let server = try await TLSServer(in: folder.url)
      try Data("HTTP/1.1 200 OK\r\na line without a mark\r\n\r\nodd".utf8)
        .write(to: folder.url.appending(path: "odd"))
      let url = try #require(URL(string: "/odd", relativeTo: server.url)).absoluteURL
      let source = URLImageSource(http: options(.pinned([server.pin])))
      #expect(try await bytes(url, from: source) == Data("odd".utf8))
    }

    @Test(
      "is refused where no key, or none that can be read, is pinned",
      arguments: [[], [""], ["/etc/hostname"], ["sha256//AAAA"], [otherPin, "sha1//AAAA"]])
    func refusesKeys(keys: [String]) async throws {
      let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
      let source = URLImageSource(http: options(.pinned(keys)))
      let encrypted = try #require(URL(string: "https://127.0.0.1:\(server.port)/a"))
      let error = await networkError(encrypted, from: source)
      #expect(error?.contains("HTTPOptions.serverTrust") == true)
      // Plain http has no keys.
      #expect(try await bytes(server.url("/a"), from: source) == Data("a".utf8))
    }

    @Test(
      "goes by the hash of a certificate's key as openssl(1) computes it",
      arguments: ["ec -pkeyopt ec_paramgen_curve:P-384", "rsa:2048", "ed25519"])
    func hashesKeys(algorithm: String) async throws {
      let server = try await TLSServer(in: folder.url, algorithm: algorithm)
      let certificate = try Data(contentsOf: folder.url.appending(path: "certificate.der"))
      let hash = try #require(CertificateKey.hash(of: certificate))
      #expect(server.pin == "sha256//\(hash.base64EncodedString())")
      for count in 0..<certificate.count {
        #expect(CertificateKey.hash(of: certificate.prefix(count)) == nil)
      }
    }
  }
#endif
