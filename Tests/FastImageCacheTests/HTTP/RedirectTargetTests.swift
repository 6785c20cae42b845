import Foundation
import Testing

@testable import FastImageCache

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
