import FastImageCache
import Foundation
import Testing

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
