import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

/// Every ask meets every answer, cut at every place, in pieces of several sizes. Bytes count as whole
/// only if they are those of one version.
@Suite("An HTTP exchange", .timeLimit(.minutes(10)))
struct HTTPExchangeTests {
  private struct Answer {
    let status: Int
    let fields: [String: String]
    let body: Data
    var head: [String: String] {
      Dictionary(uniqueKeysWithValues: fields.map { ($0.key.lowercased(), $0.value) })
    }
  }

  private static let count = 600
  private static let versions = [
    Original.version(1, count: count), Original.version(2, count: count),
    Original(
      Original.version(3, count: count).bytes, tag: nil, lastModified: Original.oldDate),
    Original(Original.version(4, count: count).bytes, tag: nil, lastModified: Original.oldDate),
  ]

  private static func answers() -> [Answer] {
    versions.flatMap { original -> [Answer] in
      let bytes = original.bytes
      let length = ["Content-Length": "\(bytes.count)"]
      var answers = [
        Answer(status: 200, fields: original.fields.merging(length) { $1 }, body: bytes),
        Answer(status: 200, fields: original.fields, body: bytes),
        Answer(
          status: 200, fields: original.fields.merging(["Content-Encoding": "gzip"]) { $1 },
          body: bytes),
      ]
      for (first, end) in [(500, 600), (244, 600), (0, 600), (500, 550), (501, 600), (0, 500)] {
        let range = ["Content-Range": "bytes \(first)-\(end - 1)/\(bytes.count)"]
        for fields in [original.fields, [:]] {
          answers.append(
            Answer(
              status: 206, fields: fields.merging(range) { $1 }, body: Data(bytes[first..<end])))
        }
      }
      for status in [304, 404, 412, 416, 503] {
        answers.append(Answer(status: status, fields: original.fields, body: Data()))
      }
      return answers
    }
  }

  private struct Play {
    var exchange: HTTPExchange
    var taken: Data?
    var isOver = false

    /// Follows a step as `HTTPTransfer` does.
    mutating func follow(_ step: HTTPExchange.Step) {
      switch step {
      case .goOn: break
      case .begin(_, let known): taken = known?.bytes ?? Data()
      case .take(let bytes): taken?.append(bytes)
      case .redirect, .fail: isOver = true
      }
    }

    mutating func receive(_ answer: Answer, cut: Int, pieces: Int, url: URL) {
      let head = HTTPHead(url: url, status: answer.status, fields: answer.head, received: Date())
      follow(exchange.receive(head))
      var rest = answer.body.prefix(cut)
      while !isOver, !rest.isEmpty {
        follow(exchange.receive(Data(rest.prefix(pieces))))
        rest = rest.dropFirst(pieces)
      }
    }
  }

  @Test("takes for whole only the bytes of one version", arguments: [false, true])
  func oneVersion(_ isFaulty: Bool) throws {
    let server = try HTTPServer([:])
    let url = server.url("/a")
    let asks =
      Self.versions.flatMap { original in
        [
          HTTPCondition(for: original.known(500, from: server), resumes: true),
          HTTPCondition(for: original.known(600, from: server), resumes: true),
          HTTPCondition(for: original.known(600, from: server, isWhole: true), resumes: true),
        ]
      } + [.all]
    var wholeCount = 0
    for ask in asks {
      for answer in Self.answers() {
        for cut in [0, 1, 100, 255, 256, 257, 600] {
          for pieces in [1000, 97] {
            var play = Play(exchange: HTTPExchange(ask, byteCountLimit: Self.count))
            play.receive(answer, cut: cut, pieces: pieces, url: url)
            #expect(play.taken?.count ?? 0 <= Self.count)
            guard !play.isOver else { continue }
            switch play.exchange.end(fault: isFaulty ? .network("cut") : nil) {
            case .complete:
              wholeCount += 1
              let taken = try #require(play.taken)
              // Nobody announced the end of the others.
              let isAnnounced = answer.head["content-length"] != nil || answer.status == 206
              let isRight =
                isAnnounced
                ? Self.versions.contains { $0.bytes == taken }
                : !isFaulty && Self.versions.contains { $0.bytes.starts(with: taken) }
              #expect(isRight, "\(ask) \(answer.status) \(answer.fields) \(cut)")
            case .unchanged:
              #expect(answer.status == 304)
            case .failed(let failure):
              #expect(failure.remedy != .none)
            }
          }
        }
      }
    }
    #expect(wholeCount > 100)
  }

  @Test(
    "asks again after a fault, but not where the same request would be refused again",
    arguments: [
      (ImageSourceError.network("reset"), false, HTTPFailure.Remedy.again()),
      (.network("reset"), true, .resend), (.offline, false, .again()),
      (.networkRefused, false, .none), (.serverNotTrusted("localhost"), false, .none),
    ])
  func faults(fault: ImageSourceError, isReset: Bool, remedy: HTTPFailure.Remedy) throws {
    let url = try #require(URL(string: "https://example.com/a"))
    for hasHead in isReset ? [false, true] : [false] {
      var exchange = HTTPExchange(byteCountLimit: 100)
      if hasHead {
        _ = exchange.receive(HTTPHead(url: url, status: 200, fields: [:], received: Date()))
      }
      guard case .failed(let failure) = exchange.end(fault: fault, isReset: isReset) else {
        Issue.record("It did not fail.")
        return
      }
      #expect(failure.remedy == remedy && (isReset || failure.error == fault))
    }
  }
}

@Suite("The lines of a head", .timeLimit(.minutes(10)))
struct HTTPHeadLinesTests {
  private func fields(_ lines: [String]) throws -> [String: String] {
    let url = try #require(URL(string: "https://example.com/a"))
    var head = HTTPHeadLines()
    for line in lines { _ = head.receive(line) }
    return head.head(url: url, status: 200).fields
  }

  @Test("are one list where they have one name, but a later address takes an earlier one's place")
  func repeated() throws {
    let lines = [
      "HTTP/1.1 200 OK", "ETag: \"a\"", "etag:\"b\"", "Location: /1", "Location: /2", "X: y",
    ]
    #expect(try fields(lines) == ["etag": "\"a\", \"b\"", "location": "/2"])
    #expect(try fields(lines + ["HTTP/1.1 200 OK"]).isEmpty)
  }

  @Test("go on in the next line where that begins with a space, for fields that are wanted")
  func folded() throws {
    #expect(
      try fields(["Cache-Control: max-age=1000,", " no-store"])
        == ["cache-control": "max-age=1000, no-store"])
    #expect(
      try fields(["ETag:", "\t \"a\"  ", "X: y", " ETag: z", "Location: /1", "  2"])
        == ["etag": " \"a\"", "location": "/1 2"])
    // A line of spaces ends no head, and nothing goes on behind a status line.
    var head = HTTPHeadLines()
    #expect(!head.receive("  ") && head.receive(""))
    #expect(try fields(["ETag: \"a\"", "HTTP/1.1 200 OK", " b"]).isEmpty)
  }

  @Test("name their field before a space and the colon")
  func spacedNames() throws {
    #expect(try fields(["Cache-Control : no-store"]) == ["cache-control": "no-store"])
    #expect(try fields(["Vary\t:*"]) == ["vary": "*"])
  }

  @Test("announce no length where the transfer has a coding")
  func transferCoding() throws {
    let lines = ["Content-Length: 10", "Transfer-Encoding: chunked"]
    #expect(try fields(lines) == ["transfer-encoding": "chunked"])
    #expect(try fields(lines.reversed()) == ["transfer-encoding": "chunked"])
  }

  @Test("keep the bytes of an address that is not UTF-8")
  func latinAddress() throws {
    let url = try #require(URL(string: "https://example.com/a"))
    var head = HTTPHeadLines()
    _ = head.receive(Array("Location: /caf".utf8) + [0xE9, 0x2F] + Array("\u{E9}".utf8))
    #expect(head.head(url: url, status: 302).fields == ["location": "/caf%E9/%C3%A9"])
  }

  @Test("forbid keeping where the field that may forbid it is too long to be read")
  func longDirectives() throws {
    let long = String(repeating: "x, ", count: 1000)
    for name in ["Cache-Control", "Vary"] {
      let terms = ResponseMetadata(fields: try fields(["\(name): \(long)"]), received: Date())
      #expect(!terms.mayBeKept)
    }
  }

  @Test("keep an address of 16 KiB and no longer one")
  func longAddress() throws {
    let address = "/" + String(repeating: "a", count: (16 << 10) - 1)
    #expect(try fields(["Location: \(address)"])["location"] == address)
    #expect(try fields(["Location: \(address)a"]).isEmpty)
  }

  @Test("end at a limit")
  func endless() {
    var head = HTTPHeadLines()
    let line = "X: " + String(repeating: "x", count: 1000)
    var count = 0
    while !head.isOverlong, count < 1000 {
      _ = head.receive(line)
      count += 1
    }
    #expect(count < 270 && head.byteCount == 0)
  }
}

@Suite("An HTTP transfer", .timeLimit(.minutes(10)))
struct HTTPTransferTests {
  @Test("is complete only once its last bytes have arrived, whoever looks meanwhile")
  func complete() async throws {
    let bytes = Data(count: 8 << 20)
    let url = try #require(URL(string: "https://example.com/a"))
    for _ in 0..<20 {
      let transfer = HTTPTransfer(
        HTTPExchange(byteCountLimit: bytes.count),
        begin: { DownloadBuffer($0, continuing: $1, byteCountLimit: bytes.count) },
        report: { _ in })
      let head = HTTPHead(
        url: url, status: 200, fields: ["content-length": "\(bytes.count)"], received: Date())
      #expect(transfer.receive(head))
      let looking = Counter()
      let seen = Task.detached {
        looking.increment()
        while true {
          if let arrival = transfer.completeBuffer { return arrival.byteCount }
          await Task.yield()
        }
      }
      await looking.reaches(1)
      #expect(transfer.receive(bytes))
      #expect(await seen.value == bytes.count)
    }
  }

  @Test(
    "that is complete is the answer at the time limit, before whoever watches was told of its end")
  func isCompleteBeforeItIsTold() async throws {
    let body = Data("a picture's bytes".utf8)
    let server = try HTTPServer(["/a": .ok(body), "/b": .ok(body)])
    let (clock, told, gate) = (ManualClock(), Counter(), Gate())
    let source = URLImageSource(.limited(idle: 10), clock: clock) { _ in }
    var request = ImageSourceRequest(url: server.url("/a"), byteCountLimit: 100)
    request.makeBuffer = {
      DownloadBuffer($0, continuing: $1, byteCountLimit: 100) { buffer, _ in
        guard buffer.byteCount == body.count else { return }
        told.increment()
        gate.waitBlocking()
      }
    }
    let load = Task { [request] in try await source.response(to: request) }
    await told.reaches(1)
    await clock.sleepers { !$0.isEmpty }
    clock.advance(by: .seconds(10))
    #expect(try await load.value.encodedData == body)
    gate.open()
    #expect(try await bytes(server.url("/b"), from: source) == body)
  }
}
