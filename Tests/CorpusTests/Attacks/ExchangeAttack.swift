import Foundation

@testable import FastImageCache
@testable import ImageSources

/// Plays a server's answer: lines of a head, then pieces of a body, then an end.
///
/// The highest two bits of the limit say what was asked for.
enum ExchangeAttack {
  static func run(on bytes: [UInt8]) throws {
    guard let url = URL(string: "https://example.org/picture") else { return }
    var script = ByteScript(bytes)
    let limit = script.short()
    let ask = ask(limit >> 14, url)
    var exchange = HTTPExchange(ask, byteCountLimit: limit)
    let head = try head(&script, url)
    var taken: Data?
    var isOver = try follow(exchange.receive(head), head, &taken)
    while !isOver, !script.isEmpty {
      isOver = try follow(exchange.receive(Data(script.chunk())), head, &taken)
      try Attack.require(taken?.count ?? 0 <= limit, "A body of \(taken?.count ?? 0) bytes")
    }
    guard !isOver else { return }
    switch (exchange.end(fault: script.byte() == 1 ? .network("cut") : nil), ask) {
    case (.failed, _): break
    case (.unchanged, .ifChanged):
      try Attack.require(head.status == 304, "No news by \(head.status)")
    case (.unchanged, _): try Attack.require(false, "No news without a question")
    case (.complete, .rest(let known, _)) where head.status == 206:
      try Attack.require(
        taken?.count == known.terms.byteCount && taken?.starts(with: known.bytes) == true,
        "Another beginning")
    case (.complete, _):
      let leadsNowhere = head.fields["location", default: ""].isEmpty
      try Attack.require(
        ([200, 201, 202, 203, 206, 226] + (leadsNowhere ? [301, 302, 303, 307, 308] : []))
          .contains(head.status), "A body with status \(head.status)")
      try Attack.require(
        exchange.progress.expectedByteCount.map { $0 == taken?.count } ?? true,
        "\(taken?.count ?? 0) bytes count as whole")
    }
  }

  private static func head(_ script: inout ByteScript, _ url: URL) throws -> HTTPHead {
    var lines = HTTPHeadLines()
    while !script.isEmpty {
      let line = script.text()
      if lines.receive(line) { return lines.head(url: url, status: script.short() % 1000) }
      try Attack.require(lines.byteCount < 1 << 15, "A head of \(lines.byteCount) bytes")
    }
    return lines.head(url: url, status: 0)
  }

  /// Whether the step ends the exchange.
  private static func follow(
    _ step: HTTPExchange.Step, _ head: HTTPHead, _ taken: inout Data?
  ) throws -> Bool {
    switch step {
    case .goOn: return false
    case .begin(_, let known): taken = known?.bytes ?? Data()
    case .take(let bytes): taken?.append(bytes)
    case .redirect(let target):
      try Attack.require((300..<400).contains(head.status), "A redirect by status \(head.status)")
      // Foundation may read it in any way; policies rely on its scheme only.
      try Attack.require(target.scheme != nil, "A redirect to \(target)")
      return true
    case .fail: return true
    }
    return false
  }

  private static func ask(_ kind: Int, _ url: URL) -> HTTPCondition {
    let bytes = Data((0..<300).map { UInt8(truncatingIfNeeded: $0) })
    var fields = ["Content-Length": "400", "Date": "Sun, 06 Nov 1994 09:49:37 GMT"]
    fields[kind == 3 ? "Last-Modified" : "ETag"] =
      kind == 3 ? "Sun, 06 Nov 1994 08:49:37 GMT" : "\"a\""
    let terms = ResponseMetadata(fields: fields, received: Date(timeIntervalSince1970: 784_111_777))
    let known = KnownOriginal(terms: terms, bytes: bytes, isWhole: kind == 1)
    return HTTPCondition(for: kind == 0 ? nil : known, resumes: true)
  }
}
