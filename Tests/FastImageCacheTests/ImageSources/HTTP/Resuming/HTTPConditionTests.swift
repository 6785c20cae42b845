import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("What a load asks a server for", .timeLimit(.minutes(10)))
struct HTTPConditionTests {
  private let url: URL
  private let server: HTTPServer
  private let original = Original.version(1)

  init() throws {
    server = try HTTPServer([:])
    url = server.url("/a")
  }

  private func fields(
    _ original: Original, _ count: Int, isWhole: Bool = false, resumes: Bool = true
  ) -> [String: String] {
    let known = original.known(count, from: server, isWhole: isWhole)
    return HTTPCondition(for: known, resumes: resumes).sent(to: url).fields
  }

  @Test("is whether it changed since an odd tag or date, just as it was sent")
  func odd() {
    var original = original
    for tag in ["v1", #"w/"v1""#, #""v1"#] {
      original.tag = tag
      #expect(fields(original, 3000, isWhole: true) == ["If-None-Match": tag])
    }
    original.tag = nil
    for date in ["yesterday", "2024-01-01 00:00:00", "Sun, 6 Nov 1994 8:49:37 +0100"] {
      original.lastModified = date
      #expect(fields(original, 3000, isWhole: true) == ["If-Modified-Since": date])
      #expect(fields(original, 1000).isEmpty)
    }
    (original.tag, original.lastModified) = ("v1", Original.oldDate)
    #expect(fields(original, 1000) == ["Range": "bytes=744-", "If-Range": Original.oldDate])
  }

  @Test("is the rest, by a strong tag, or by an old date with 256 bytes that are there already")
  func rest() {
    var original = original
    #expect(fields(original, 1000) == ["Range": "bytes=1000-", "If-Range": "\"v1\""])
    original.tag = nil
    original.lastModified = Original.oldDate
    #expect(fields(original, 1000) == ["Range": "bytes=744-", "If-Range": Original.oldDate])
    #expect(fields(original, 257) == ["Range": "bytes=1-", "If-Range": Original.oldDate])
    #expect(fields(original, 256).isEmpty)
  }

  @Test("is everything where a continuation could be of another version, or is not wanted")
  func unproven() {
    var original = original
    #expect(fields(original, 1000, resumes: false).isEmpty)
    original.tag = "W/\"v1\""
    original.lastModified = Original.oldDate
    #expect(fields(original, 1000).isEmpty)
    original.tag = nil
    original.lastModified = Original.date
    #expect(fields(original, 1000).isEmpty)
    original.lastModified = nil
    #expect(fields(original, 1000).isEmpty)
  }

  @Test(
    "is everything of another host, port, scheme or path",
    arguments: [
      "http://127.0.0.2:%d/a", "http://127.0.0.1:1/a", "https://127.0.0.1:%d/a",
      "http://127.0.0.1:%d/", "http://127.0.0.1:%d/A", "http://127.0.0.1:%d/a/",
    ])
  func otherAddress(_ text: String) throws {
    let text = text.replacingOccurrences(of: "%d", with: "\(server.port)")
    let other = try #require(URL(string: text))
    for isWhole in [true, false] {
      let ask = HTTPCondition(
        for: original.known(1000, from: server, isWhole: isWhole), resumes: true)
      #expect(ask.sent(to: other).fields.isEmpty && !ask.sent(to: url).fields.isEmpty)
    }
  }
}
