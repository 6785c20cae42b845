import Foundation
import Testing

@testable import FastImageCache
@testable import ImageSources

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

  @Test("has its user and password without percent encoding")
  func user() throws {
    let proxy = try proxy("http://us%40er:se%3Acret@proxy.example.com")
    #expect(proxy.user == "us@er" && proxy.password == "se:cret")
    let other = try self.proxy("http://proxy.example.com")
    #expect(other.user == nil && other.password == nil)
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
