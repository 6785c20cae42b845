import Foundation
import TestSupport
import Testing

@Suite("A file of the tests' server", .timeLimit(.minutes(10)))
struct HTTPFileTests {
  private let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private func file(_ faults: HTTPFile.Fault...) -> HTTPFile {
    HTTPFile(
      Data("0123456789".utf8), entityTag: "\"x\"", lastModified: date, faults: Set(faults))
  }

  /// The answer's text, without its first line's word.
  private func answer(_ file: HTTPFile, _ headers: [String: String] = [:]) -> String {
    let reply = file.reply(to: HTTPServer.Request(path: "/", headers: headers))
    return reply.steps.map { step in
      if case .bytes(let bytes) = step { String(decoding: bytes, as: UTF8.self) } else { "" }
    }.joined()
  }

  @Test("is sent whole, or the rest of it to whoever has its first bytes")
  func ranges() {
    let whole = answer(file())
    #expect(whole.hasPrefix("HTTP/1.1 200 ") && whole.hasSuffix("\r\n\r\n0123456789"))
    #expect(whole.contains("ETag: \"x\"\r\n") && whole.contains("Last-Modified: \(date)\r\n"))
    for validator in [nil, "\"x\"", date] {
      let rest = answer(
        file(), ["range": "bytes=7-", "if-range": validator].compactMapValues(\.self))
      #expect(rest.hasPrefix("HTTP/1.1 206 ") && rest.hasSuffix("\r\n\r\n789"))
      #expect(rest.contains("Content-Range: bytes 7-9/10\r\nETag: \"x\""))
    }
    #expect(answer(file(), ["range": "bytes=7-", "if-range": "\"y\""]) == whole)
    let beyond = answer(file(), ["range": "bytes=10-"])
    #expect(beyond.hasPrefix("HTTP/1.1 416 ") && beyond.contains("Content-Range: bytes */10\r\n"))
  }

  @Test("is not sent to whoever has it")
  func conditions() {
    for headers in [
      ["if-none-match": "\"x\""], ["if-none-match": "\"y\", W/\"x\""],
      ["if-modified-since": date],
    ] {
      let text = answer(file(), headers)
      #expect(text.hasPrefix("HTTP/1.1 304 ") && text.hasSuffix("\r\n\r\n"))
    }
    let other = ["if-none-match": "\"y\"", "if-modified-since": date]
    #expect(answer(file(), other) == answer(file()))
  }

  @Test("is sent wrongly by a server that has a fault")
  func faults() {
    func rest(_ fault: HTTPFile.Fault) -> String {
      answer(file(fault), ["range": "bytes=7-", "if-range": "\"x\""])
    }
    #expect(rest(.ignoresRanges) == answer(file()))
    #expect(
      answer(file(.ignoresIfRange), ["range": "bytes=7-", "if-range": "\"y\""]).hasSuffix("789"))
    #expect(answer(file(.alwaysUnmodified)).hasPrefix("HTTP/1.1 304 "))
    for (fault, range, body) in [
      (.partBegins(late: -2), "bytes 5-9/10", "56789"),
      (.partBegins(late: 1), "bytes 8-9/10", "89"),
      (.partEnds(after: 2), "bytes 7-8/10", "78"), (.claimsPart(late: 1), "bytes 8-10/10", "789"),
      (.claimsTotal("*"), "bytes 7-9/*", "789"),
    ] as [(HTTPFile.Fault, String, String)] {
      let text = rest(fault)
      #expect(text.contains("Content-Range: \(range)\r\n") && text.hasSuffix("\r\n\r\n\(body)"))
    }
    #expect(rest(.claimsEntityTag("\"y\"")).contains("ETag: \"y\"\r\n"))
    #expect(!rest(.claimsEntityTag(nil)).contains("ETag"))
    #expect(rest(.claimsCoding).contains("Content-Encoding: gzip\r\n"))
    #expect(rest(.multipart).contains("--END\r\nContent-Range: bytes 7-9/10\r\n\r\n789\r\n--END--"))
  }

  @Test("can be interrupted at any byte of its body")
  func interrupting() throws {
    let reply = HTTPReply.ok(Data("0123456789".utf8))
    for count in 0...10 {
      let steps = reply.inserting(.cut, after: count).steps
      let end = try #require(steps.firstIndex { if case .cut = $0 { true } else { false } })
      let text = steps[..<end].map { step in
        if case .bytes(let bytes) = step { String(decoding: bytes, as: UTF8.self) } else { "" }
      }.joined()
      #expect(text.hasSuffix("\r\n\r\n" + "0123456789".prefix(count)))
    }
  }
}
