#if !canImport(Darwin)
  import Foundation
  import TestSupport
  import Testing

  @testable import FastImageCache

  @Suite("The kinds of images that a request accepts", .timeLimit(.minutes(10)))
  struct AcceptedTypesTests {
    private func accepted(
      _ decoders: [any ImageDecoder] = ImageDecoders.standard, headers: [String: String] = [:]
    ) async throws -> String? {
      let server = try HTTPServer(["/a": .ok(try solid(1).pngData())])
      let test = try await Fixture(from: URLImageSource(http: .patient)) { $0.decoders = decoders }
      let photo = Photo(1, url: server.url("/a").absoluteString)
      _ = try await test.image(photo, .row, LoadOptions { $0.headers = headers })
      return server.arrivedRequests.first?.headers["accept"]
    }

    @Test("are those that the decoders read, others last")
    func areThoseOfDecoders() async throws {
      let all = try #require(try await accepted()).split(separator: ",")
      #expect(all.starts(with: ["image/jpeg", "image/png", "image/apng", "image/webp"]))
      #expect(all.last == "image/*;q=0.5")
      #if AVIF
        #expect(all.contains("image/avif"))
      #else
        #expect(!all.contains("image/avif"))
      #endif
      let png = ImageDecoders.standard.filter {
        $0.recognizes(Data([0x89]) + Data("PNG\r\n\u{1A}\n".utf8))
      }
      #expect(try await accepted(png) == "image/png,image/apng,image/*;q=0.5")
    }

    @Test("are the request's own, in any case of the name", arguments: ["Accept", "accept"])
    func areOwn(name: String) async throws {
      #expect(try await accepted(headers: [name: "image/png"]) == "image/png")
    }
  }
#endif
