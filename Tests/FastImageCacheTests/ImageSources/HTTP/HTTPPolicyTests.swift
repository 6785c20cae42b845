import Foundation
import Testing

@testable import FastImageCache
@testable import ImageSources

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
