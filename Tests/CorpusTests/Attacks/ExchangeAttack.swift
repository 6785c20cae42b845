import Foundation

@testable import FastImageCache

/// Plays a server's answer: lines of a head, then pieces of a body, then an end.
enum ExchangeAttack {
  static func run(on bytes: [UInt8]) throws {
    guard let url = URL(string: "https://example.org/picture") else { return }
    var script = ByteScript(bytes)
    let limit = script.short()
    var exchange = HTTPExchange(byteCountLimit: limit)
    var lines = HTTPHeadLines()
    var status = 0
    while !script.isEmpty {
      let line = script.text()
      if lines.receive(line) {
        status = script.short() % 1000
        break
      }
      try Attack.require(lines.byteCount < 1 << 10, "A head of \(lines.byteCount) bytes")
    }
    let head = lines.head(url: url, status: status)
    var verdict = exchange.receive(head)
    if case .redirect(let target) = verdict {
      try Attack.require((300..<400).contains(status), "A redirect by status \(status)")
      // Foundation may read it in any way; policies rely on its scheme only.
      try Attack.require(target.scheme != nil, "A redirect to \(target)")
    }
    while verdict == .goOn, !script.isEmpty {
      verdict = exchange.receive(Data(script.chunk()))
      try Attack.require(exchange.body.count <= limit, "A body of \(exchange.body.count) bytes")
    }
    guard verdict == .goOn else { return }
    guard case .success(let body) = exchange.end(fault: script.byte() == 1 ? "cut" : nil) else {
      return
    }
    try Attack.require(status == 200, "A body with status \(status)")
    try Attack.require(
      body.count >= exchange.expectedByteCount ?? 0, "\(body.count) bytes count as whole")
  }
}
