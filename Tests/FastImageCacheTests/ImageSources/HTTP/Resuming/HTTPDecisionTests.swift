import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("What an answer means", .timeLimit(.minutes(10)))
struct HTTPDecisionTests {
  private let original = Original.version(1, count: 1000)
  private let dated = Original(
    Original.version(1, count: 1000).bytes, tag: nil, lastModified: Original.oldDate)
  private let server: HTTPServer

  init() throws { server = try HTTPServer([:]) }

  private func rest(_ original: Original, _ count: Int = 600) -> HTTPCondition {
    HTTPCondition(for: original.known(count, from: server), resumes: true)
  }

  private func ifChanged(_ original: Original) -> HTTPCondition {
    HTTPCondition(for: original.known(1000, from: server, isWhole: true), resumes: true)
  }

  /// A decision in one word.
  private func decision(
    _ status: Int, _ fields: [String: String] = [:], to ask: HTTPCondition
  ) -> String {
    let lowered = Dictionary(uniqueKeysWithValues: fields.map { ($0.key.lowercased(), $0.value) })
    let head = HTTPHead(
      url: server.url("/a"), status: status, fields: lowered,
      received: Date(timeIntervalSince1970: 0))
    switch HTTPDecision(on: head, to: ask) {
    case .redirect: return "redirect"
    case .whole: return "whole"
    case .part(_, let range, _): return "\(range.lowerBound)..<\(range.upperBound)"
    case .unchanged: return "unchanged"
    case .failure(let failure):
      guard case .httpStatus(status) = failure.error else { return "\(failure.error)" }
      let drops = failure.dropsBytes ? ", drop" : ""
      switch failure.remedy {
      case .none: return "error\(drops)"
      case .again(let delay?): return "again after \(delay)\(drops)"
      case .again(nil): return "again\(drops)"
      case .resend: return "resend\(drops)"
      case .all: return "all\(drops)"
      case .rest: return "rest\(drops)"
      }
    }
  }

  private func part(_ range: String, _ more: [String: String] = ["ETag": "\"v1\""]) -> String {
    decision(206, more.merging(["Content-Range": range]) { $1 }, to: rest(original))
  }

  @Test("is the whole by its status, whatever was asked", arguments: [200, 201, 202, 203, 226])
  func whole(_ status: Int) {
    for ask in [.all, rest(original), rest(dated), ifChanged(original), ifChanged(dated)] {
      #expect(decision(status, to: ask) == "whole")
    }
  }

  @Test(
    "is refused where it is a part that was not asked for, even one of which nothing is missing")
  func unaskedPart() {
    for range in ["bytes 0-999/1000", "bytes 0-998/1000", "bytes 0-999/*", "bytes */1000", ""] {
      for (ask, answer) in [(.all, "error"), (ifChanged(original), "all")] {
        #expect(decision(206, ["Content-Range": range], to: ask) == answer, "\(range)")
      }
    }
  }

  @Test("is no whole where the rest was asked for and it names a part, whatever its status says")
  func partOfWhole() {
    for status in [200, 203] {
      for range in ["bytes 600-999/1000", "bytes 600-999/*", "bytes 0-599/1000"] {
        #expect(decision(status, ["Content-Range": range], to: rest(original)) == "all, drop")
      }
      #expect(
        decision(status, ["Content-Range": "bytes 0-999/1000"], to: rest(original)) == "whole")
    }
  }

  @Test("may be kept by its status, or where it says for how long")
  func heuristics() {
    func mayBeKept(_ status: Int, _ fields: [String: String] = [:]) -> Bool? {
      let head = HTTPHead(url: server.url("/a"), status: status, fields: fields, received: Date())
      guard case .whole(let terms) = HTTPDecision(on: head, to: .all) else { return nil }
      return terms.mayBeKept
    }
    for status in [200, 203] { #expect(mayBeKept(status) == true) }
    for status in [201, 202, 226] {
      #expect(mayBeKept(status) == false)
      #expect(mayBeKept(status, ["cache-control": "max-age=60"]) == true)
      #expect(mayBeKept(status, ["expires": Original.date]) == true)
      #expect(mayBeKept(status, ["cache-control": "public"]) == true)
      #expect(mayBeKept(status, ["cache-control": "private"]) == false)
    }
  }

  @Test("has the length that it announces, whatever range a whole claims to be")
  func rangeOfWhole() {
    let head = HTTPHead(
      url: server.url("/a"), status: 200,
      fields: ["content-length": "1000", "content-range": "bytes 0-6/7"], received: Date())
    guard case .whole(let terms) = HTTPDecision(on: head, to: .all) else {
      Issue.record("It was refused.")
      return
    }
    #expect(terms.byteCount == 1000)
  }

  @Test("is news where it names another tag, and none where it names the same, a weak one or none")
  func notModified() {
    let ask = ifChanged(original)
    #expect(decision(304, original.fields, to: ask) == "unchanged")
    #expect(decision(304, ["ETag": "W/\"v1\""], to: ask) == "unchanged")
    #expect(decision(304, to: ask) == "unchanged")
    #expect(decision(304, to: ifChanged(dated)) == "unchanged")
    #expect(decision(304, ["ETag": "\"v2\""], to: ask) == "all")
    #expect(decision(304, ["ETag": "v1"], to: ask) == "unchanged")
    #expect(decision(304, ["ETag": "v2"], to: ask) == "all")
    #expect(decision(304, ["ETag": "\"v1\", \"v2\""], to: ask) == "unchanged")
  }

  @Test(
    "is no rest where one thing disagrees: all is asked for once more",
    arguments: [
      "bytes 601-999/1000", "bytes 0-599/1000", "bytes 0-10/1000", "bytes 600-999/*",
      "bytes 600-999/1001", "bytes 600-998/999", "bytes */1000", "bytes 600-1000/1000",
      "bytes 999-600/1000", "bytes 600-9223372036854775807/9223372036854775808",
      "bytes 600-9223372036854775806/9223372036854775807", "bytes 600-999/9223372036854775808",
      "600-999/1000", "items 600-999/1000", "", "bytes -600-999/1000",
    ])
  func disagreeing(_ range: String) {
    #expect(part(range) == "all, drop")
  }

  @Test(
    "is no rest under another tag, a weak one or none, with a coding, or in several parts",
    arguments: [
      [:], ["ETag": "\"v2\""], ["ETag": "W/\"v1\""], ["ETag": "\"v1\", \"v1\""], ["ETag": "v1"],
      ["ETag": "\"v1\"", "Content-Encoding": "gzip"],
      ["ETag": "\"v1\"", "Content-Type": "multipart/byteranges; boundary=X"],
      ["ETag": "\"v1\"", "Content-Length": "399"],
    ])
  func otherVersion(_ fields: [String: String]) {
    #expect(part("bytes 600-999/1000", fields) == "all, drop")
  }

  @Test("is no rest under another date, or another tag beside one without quotes")
  func otherDate() {
    var odd = dated
    odd.tag = "v1"
    for (tag, expected) in [("v1", "344..<1000"), ("v2", "all, drop")] {
      let fields = ["Content-Range": "bytes 344-999/1000", "ETag": tag]
      #expect(decision(206, fields, to: rest(odd)) == expected)
    }
    let fields = ["Content-Range": "bytes 344-999/1000", "Last-Modified": Original.date]
    #expect(decision(206, fields, to: rest(dated)) == "all, drop")
  }
}

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
