import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("A download that broke off", .timeLimit(.minutes(10)))
struct HTTPResumeTests {
  private let original = Original.version(1)
  private let dated = Original(
    Original.version(1).bytes, tag: nil, lastModified: Original.oldDate)

  private func ranges(_ server: HTTPServer) -> [Int?] { server.arrivedRequests.map(\.firstByte) }

  @Test("is continued where it ended")
  func continued() async throws {
    let server = try original.server()
    let reports = Lock<[ImageSourceProgress]>([])
    let slot = Download()
    let content = try await load(
      server.url("/a"), known: original.known(1000, from: server), slot: slot
    ) { report in reports.withLock { $0.append(report) } }
    #expect(content.arrivedBytes == original.bytes)
    #expect(ranges(server) == [1000])
    #expect(server.arrivedRequests.first?.headers["if-range"] == "\"v1\"")
    // Progress begins with what was there.
    #expect(reports.withLock { $0.first }?.receivedByteCount == 1000)
    #expect(reports.withLock { $0.allSatisfy { $0.expectedByteCount == 3000 } })
    #expect(slot.take()?.bytes == original.bytes)
  }

  @Test("is continued 256 bytes earlier where only a date tells versions")
  func byDate() async throws {
    let cases: [(Original, Int, first: Int?)] = [
      (dated, 1000, 744), (dated, 3000, nil), (original, 3000, nil),
    ]
    for (original, count, first) in cases {
      let server = try original.server()
      let content = try await load(server.url("/a"), known: original.known(count, from: server))
      #expect(content.arrivedBytes == original.bytes)
      #expect(server.requests.value == 1)
      if let first { #expect(ranges(server) == [first]) }
    }
  }

  @Test("begins anew where it changed, and progress falls back")
  func changed() async throws {
    let (old, new) = (original, Original.version(2))
    let server = try new.server()
    let reports = Lock<[Int]>([])
    let content = try await load(server.url("/a"), known: old.known(1000, from: server)) { report in
      reports.withLock { $0.append(report.receivedByteCount) }
    }
    #expect(content.arrivedBytes == new.bytes)
    #expect(server.requests.value == 1)
    #expect(reports.withLock { $0.first } == 0)
  }

  @Test(
    "is dropped, and everything asked for once more, where the part is of another version",
    arguments: ["tag", "no tag", "length", "start", "date", "coding"])
  func otherVersion(_ lie: String) async throws {
    let (old, new) = (lie == "date" ? dated : original, Original.version(2))
    let server = try HTTPServer { request in
      guard let first = request.firstByte else { return new.part(0..<3000, status: 200) }
      return switch lie {
      case "tag": new.part(first..<3000)
      case "no tag": new.part(first..<3000, changing: ["ETag": nil])
      case "length": old.part(first..<3000, changing: ["Content-Range": "bytes \(first)-3000/3001"])
      case "start": old.part(first + 1..<3000)
      // The new version's bytes under the old one's date: only the overlap tells.
      case "date": new.part(first..<3000, changing: ["ETag": nil])
      default: old.part(first..<3000, changing: ["Content-Encoding": "gzip"])
      }
    }
    let content = try await load(server.url("/a"), known: old.known(1000, from: server))
    #expect(content.arrivedBytes == new.bytes)
    #expect(ranges(server) == [lie == "date" ? 744 : 1000, nil])
  }

  @Test("is compared where a part begins too early, and put together where it is right")
  func earlyPart() async throws {
    let original = original
    for (changed, count) in [(false, 1), (true, 2)] {
      let server = try HTTPServer { request in
        guard request.firstByte != nil else { return original.part(0..<3000, status: 200) }
        var other = original
        if changed { other.bytes[other.bytes.startIndex + 999] ^= 1 }
        return other.part(512..<3000)
      }
      let content = try await load(server.url("/a"), known: original.known(1000, from: server))
      #expect(content.arrivedBytes == original.bytes)
      #expect(server.requests.value == count)
    }
  }

  @Test("is put together from parts that are shorter than was asked for")
  func shortParts() async throws {
    let original = original
    let server = try HTTPServer { request in
      let first = request.firstByte ?? 0
      return original.part(first..<min(3000, first + 1000))
    }
    let content = try await load(
      server.url("/a"), known: original.known(500, from: server),
      from: URLImageSource(http: .retrying(2)))
    #expect(content.arrivedBytes == original.bytes)
    #expect(ranges(server) == [500, 1500, 2500])
  }

  @Test("is continued by the server that began it, and by no other", arguments: [true, false])
  func redirected(_ isSame: Bool) async throws {
    let (store, other) = (try original.server(), try original.server())
    let front = try HTTPServer([
      "/a": .redirect(to: (isSame ? store : other).url("/b").absoluteString)
    ])
    let content = try await load(
      front.url("/a"), known: original.known(1000, from: store, at: "/b"))
    #expect(content.arrivedBytes == original.bytes)
    #expect(ranges(front) == [nil])
    #expect(ranges(store) == (isSame ? [1000] : []))
    #expect(ranges(other) == (isSame ? [] : [nil]))
    #expect(
      (front.arrivedRequests + other.arrivedRequests).allSatisfy { $0.headers["if-range"] == nil })
  }

  @Test("is told to no other host by the request hook's change of address")
  func hookChangesHost() async throws {
    let (first, second) = (try original.server(), try original.server())
    let address = second.url("/b")
    let content = try await load(
      first.url("/a"), known: original.known(1000, from: first, at: "/b"),
      from: URLImageSource { $0.changeRequests { $0 = HTTPRequest(url: address) } })
    #expect(content.arrivedBytes == original.bytes)
    #expect(ranges(second) == [nil] && first.requests.value == 0)
  }

  @Test("is fetched from the first byte where nothing is to be resumed")
  func notResumed() async throws {
    let server = try original.server()
    let content = try await load(
      server.url("/a"), known: original.known(1000, from: server),
      from: URLImageSource { $0.resumes = false })
    #expect(content.arrivedBytes == original.bytes)
    #expect(ranges(server) == [nil])
  }

  @Test("leaves what arrived to be kept: by failure, by cancellation")
  func leavesArrival() async throws {
    let original = original
    let cut = try HTTPServer { original.reply(to: $0, cut: 1200) }
    var slot = Download()
    await #expect(throws: ImageSourceError.truncatedBody(received: 1200, expected: 3000)) {
      try await load(cut.url("/a"), slot: slot)
    }
    var arrival = try #require(slot.take())
    #expect(arrival.bytes == original.bytes.prefix(1200) && arrival.terms.mayBeContinued)
    #expect(arrival.terms.origin == HTTPHost.origin(of: cut.url("/a")))

    let gate = Gate()
    defer { gate.open() }
    let held = try HTTPServer { _ in
      HTTPReply(
        Array(original.part(0..<3000, status: 200, cut: 700).steps.dropLast()) + [.wait(gate)])
    }
    slot = Download()
    let arrived = Counter()
    let task = Task { [slot] in
      try await load(held.url("/a"), slot: slot) {
        if $0.receivedByteCount == 700 { arrived.increment() }
      }
    }
    await arrived.reaches(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    arrival = try #require(slot.take())
    #expect(arrival.bytes == original.bytes.prefix(700))
  }

  @Test(
    "is fetched by a plain request where its server refuses the continuation, in the same load",
    arguments: [400, 401, 403, 404, 405, 407, 418, 451, 500, 501, 503, 505])
  func refused(_ status: Int) async throws {
    let (original, dated) = (original, dated)
    for original in [original, dated] {
      let server = try HTTPServer { request in
        request.firstByte == nil ? original.reply(to: request) : .status(status)
      }
      // It sends no request again for another reason.
      let content = try await load(server.url("/a"), known: original.known(1000, from: server))
      #expect(content.arrivedBytes == original.bytes)
      #expect(ranges(server).count == 2)
      let plain = try #require(server.arrivedRequests.last)
      #expect(HTTPCondition.reservedNames.allSatisfy { plain.headers[$0] == nil })
    }
  }

  @Test("is continued no more in a load whose server has refused that")
  func refusedAgain() async throws {
    let original = original
    let server = try HTTPServer { request in
      if request.firstByte != nil { return .status(403) }
      return original.part(0..<3000, status: 200, cut: request.number == 2 ? 2000 : nil)
    }
    let content = try await load(
      server.url("/a"), known: original.known(1000, from: server),
      from: URLImageSource(http: .retrying(1)))
    #expect(content.arrivedBytes == original.bytes)
    #expect(ranges(server) == [1000, nil, nil])
  }

  @Test(
    "leaves nothing to be continued once it is refused, unless its server is out of order",
    arguments: [(404, true), (410, true), (403, true), (503, false)])
  func gone(_ status: Int, _ isDropped: Bool) async throws {
    let server = try HTTPServer { _ in .status(status) }
    let slot = Download()
    await #expect(throws: ImageSourceError.httpStatus(status)) {
      try await load(server.url("/a"), known: original.known(1000, from: server), slot: slot)
    }
    // Without an arrival what is known stays.
    let arrival = slot.take()
    #expect((arrival != nil) == isDropped)
    #expect(arrival?.terms.mayBeContinued != true && arrival?.byteCount ?? 0 == 0)
    #expect(ranges(server) == [1000, nil])
  }

  /// A chunked part, whose end does not come: only the announced range tells that all of it did.
  private func chunked(_ size: String, _ body: Data, _ end: HTTPReply.Step) throws -> HTTPServer {
    var fields = original.fields
    fields["Transfer-Encoding"] = "chunked"
    fields["Content-Range"] = "bytes 1000-2999/3000"
    let steps = [
      HTTPReply.Step.bytes(HTTPReply.head(206, fields)), .bytes(Data("\(size)\r\n".utf8) + body),
      end,
    ]
    return try HTTPServer { _ in HTTPReply(steps) }
  }

  @Test("counts when complete, whatever comes then, or nothing", arguments: [false, true])
  func complete(isSilent: Bool) async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try chunked(
      "7d0", original.bytes.dropFirst(1000), isSilent ? .wait(gate) : .cut)
    let (clock, arrived) = (ManualClock(), Counter())
    let known = original.known(1000, from: server)
    let task = Task {
      defer { arrived.end() }
      return try await load(
        server.url("/a"), known: known,
        from: URLImageSource(http: .limited(idle: 2), clock: clock)
      ) { if $0.receivedByteCount == 3000 { arrived.increment() } }
    }
    await arrived.reaches(1)
    if isSilent { clock.advance(by: .seconds(2)) }
    #expect(try await task.value.arrivedBytes == original.bytes)
  }

  @Test("is an error where more comes than was announced, and nothing of it is kept")
  func beyond() async throws {
    let server = try chunked(
      "7d1", original.bytes.dropFirst(1000), .bytes(Data("x\r\n0\r\n\r\n".utf8)))
    let slot = Download()
    await #expect(throws: ImageSourceError.self) {
      try await load(server.url("/a"), known: original.known(1000, from: server), slot: slot)
    }
    #expect(slot.take()?.byteCount == 0)
  }
}

@Suite("A whole original that is asked about", .timeLimit(.minutes(10)))
struct HTTPRevalidationTests {
  private let original = Original.version(1)

  @Test("is unchanged where the server says so, and its terms are the newer ones")
  func unchanged() async throws {
    var original = original
    for tag in ["\"v1\"", "W/\"v1\"", nil] {
      (original.tag, original.lastModified) = (tag, tag == nil ? Original.date : nil)
      let server = try HTTPServer { [original] request in
        guard request.headers["if-none-match"] ?? request.headers["if-modified-since"] != nil else {
          return original.reply(to: request)
        }
        var fields = original.fields
        fields["Cache-Control"] = "max-age=77"
        return HTTPReply([.bytes(HTTPReply.head(304, fields))])
      }
      let slot = Download()
      let content = try await load(
        server.url("/a"), known: original.known(3000, from: server, isWhole: true), slot: slot)
      let terms = try #require(content.unchangedTerms)
      #expect(terms.byteCount == 3000 && terms.cacheControl?.maxAge == 77)
      #expect(terms.entityTag == tag)
      #expect(slot.take() == nil)
    }
  }

  @Test("keeps its connection: an answer without a body ends by itself")
  func keepsConnection() async throws {
    let server = try original.server()
    let source = URLImageSource(http: .patient)
    let known = original.known(3000, from: server, isWhole: true)
    for _ in 0..<3 { _ = try await load(server.url("/a"), known: known, from: source) }
    #expect(server.requests.value == 3 && server.connections.value == 1)
  }

  @Test("is fetched where it changed, and once more where the server names another tag")
  func changed() async throws {
    let (old, new) = (original, Original.version(2))
    for isHonest in [true, false] {
      let server = try HTTPServer { request in
        guard request.headers["if-none-match"] != nil, !isHonest else {
          return new.reply(to: request)
        }
        return HTTPReply([.bytes(HTTPReply.head(304, new.fields))])
      }
      let content = try await load(
        server.url("/a"), known: old.known(3000, from: server, isWhole: true))
      #expect(content.arrivedBytes == new.bytes)
      #expect(server.requests.value == (isHonest ? 1 : 2))
    }
  }

  @Test(
    "is fetched where the server refuses the condition, and not where it names an error",
    arguments: [400, 412, 500, 501, 401, 404])
  func refusedCondition(_ status: Int) async throws {
    let original = original
    let server = try HTTPServer { request in
      request.headers["if-none-match"] == nil ? original.reply(to: request) : .status(status)
    }
    let known = original.known(3000, from: server, isWhole: true)
    if [401, 404].contains(status) {
      await #expect(throws: ImageSourceError.httpStatus(status)) {
        try await load(server.url("/a"), known: known)
      }
      #expect(server.requests.value == 1)
    } else {
      let content = try await load(server.url("/a"), known: known)
      #expect(content.arrivedBytes == original.bytes && server.requests.value == 2)
    }
  }

  @Test("is asked about with the server that sent it, and with no other")
  func otherHost() async throws {
    let (first, second) = (try original.server(), try original.server())
    let content = try await load(
      second.url("/a"), known: original.known(3000, from: first, isWhole: true))
    #expect(content.arrivedBytes == original.bytes)
    #expect(second.arrivedRequests.allSatisfy { $0.headers["if-none-match"] == nil })
  }

  @Test("is asked about at the path that sent it, whatever its query, and at no other")
  func otherPath() async throws {
    let old = Original(Original.version(1).bytes, tag: nil, lastModified: Original.date)
    let new = Original(Original.version(2).bytes, tag: nil, lastModified: Original.oldDate)
    for (path, isAsked) in [("/p/3.jpg?key=1", false), ("/p/9.jpg?key=1", true)] {
      let server = try HTTPServer { request in
        if request.path == "/avatar" { return .redirect(to: path) }
        // It is no younger than the date, as servers compare dates.
        let isUnchanged = request.headers["if-modified-since"] != nil
        return isUnchanged ? HTTPReply([.bytes(HTTPReply.head(304, new.fields))]) : .ok(new.bytes)
      }
      let content = try await load(
        server.url("/avatar"), known: old.known(3000, from: server, at: "/p/9.jpg", isWhole: true))
      #expect(content.arrivedBytes == (isAsked ? nil : new.bytes))
      #expect((content.unchangedTerms != nil) == isAsked)
    }
  }
}
