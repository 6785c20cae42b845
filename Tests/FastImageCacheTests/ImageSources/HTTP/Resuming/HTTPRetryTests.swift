import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("A load that is retried", .timeLimit(.minutes(10)))
struct HTTPRetryTests {
  private let original = Original.version(1)
  private let clock = ManualClock()

  private func replying(_ replies: [HTTPReply]) throws -> HTTPServer {
    try HTTPServer(scripts: ["/a": replies])
  }

  @Test(
    "is sent again after statuses that may pass, and after no other",
    arguments: [400, 401, 403, 404, 408, 410, 418, 429, 500, 501, 502, 503, 504, 505])
  func statuses(_ status: Int) async throws {
    let isRetried = [408, 429, 500, 502, 503, 504].contains(status)
    let server = try replying([.status(status), .status(status), .ok(original.bytes)])
    let source = URLImageSource(http: .retrying(2))
    if isRetried {
      #expect(try await bytes(server.url("/a"), from: source) == original.bytes)
    } else {
      await #expect(throws: ImageSourceError.httpStatus(status)) {
        try await bytes(server.url("/a"), from: source)
      }
    }
    #expect(server.requests.value == (isRetried ? 3 : 1))
  }

  @Test("is sent again after a connection that failed or was cut")
  func connections() async throws {
    let server = try replying([
      HTTPReply([.cut]), original.part(0..<3000, status: 200, cut: 10), .ok(original.bytes),
    ])
    #expect(
      try await bytes(server.url("/a"), from: URLImageSource(http: .retrying(2))) == original.bytes)
    #expect(server.requests.value == 3)
    #expect(server.arrivedRequests.map(\.firstByte) == [nil, nil, 10])
  }

  @Test("is sent again after silence, and resumes")
  func silence() async throws {
    let (gate, original, arrived) = (Gate(), original, Counter())
    defer { gate.open() }
    let server = try HTTPServer { request in
      guard request.firstByte == nil else { return original.reply(to: request) }
      return HTTPReply(
        Array(original.part(0..<3000, status: 200, cut: 700).steps.dropLast()) + [.wait(gate)])
    }
    var options = HTTPOptions.retrying(1)
    options.idleTimeout = .seconds(2)
    let source = URLImageSource(http: options, clock: clock, random: { 0 })
    let task = Task {
      defer { arrived.end() }
      return try await load(server.url("/a"), from: source) {
        if $0.receivedByteCount == 700 { arrived.increment() }
      }
    }
    await arrived.reaches(1)
    clock.advance(by: .seconds(2))
    #expect(try await task.value.arrivedBytes == original.bytes)
    #expect(server.arrivedRequests.map(\.firstByte) == [nil, 700])
  }

  @Test("pauses for half a second, then a second, by its clock, and not less than the server says")
  func pauses() async throws {
    let server = try replying([
      .status(503), .status(503), .status(503, headers: ["Retry-After": "30"]), .ok(original.bytes),
    ])
    let retries = Lock<[ImageSourceProgress.Retry]>([])
    let source = URLImageSource(clock: clock) { $0.retry = RetryPolicy(limit: 3) }
    let task = Task {
      defer { clock.end() }
      return try await bytes(server.url("/a"), from: source) { step in
        if let retry = step.retry { retries.withLock { $0.append(retry) } }
      }
    }
    for (count, pause) in [(1, Duration.milliseconds(500)), (2, .seconds(1)), (3, .seconds(30))] {
      await server.requests.reaches(count)
      let end = clock.now + pause
      await clock.sleepers { $0 == [end] }
      clock.advance(by: pause)
    }
    #expect(try await task.value == original.bytes)
    #expect(retries.withLock { $0.map(\.attempt) } == [1, 2, 3])
    #expect(retries.withLock { $0.last?.pause } == .seconds(30))
  }

  @Test("tells whoever listens to its progress that it pauses")
  func progress() async throws {
    let server = try replying([.status(503)])
    let source = URLImageSource(clock: clock) { $0.retry = RetryPolicy(limit: 1) }
    let fixture = try await Fixture { $0.source = source }
    let photo = Photo("a", url: server.url("/a").absoluteString)
    for await step in fixture.cache.progress(for: photo, format: .row) {
      guard case .retrying(let attempt, let pause) = step else { continue }
      #expect(attempt == 1 && pause == .milliseconds(500))
      return
    }
    Issue.record("It told of no pause.")
  }

  @Test("ends in its pause when it is cancelled")
  func cancelled() async throws {
    let server = try replying([.status(503)])
    let source = URLImageSource(clock: clock) { $0.retry = RetryPolicy() }
    let task = Task { try await bytes(server.url("/a"), from: source) }
    let end = clock.now + .milliseconds(500)
    await clock.sleepers { $0 == [end] }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(server.requests.value == 1)
  }

  @Test("is not sent again to a host that has had its part of retries")
  func budget() async throws {
    let server = try replying([.status(503)])
    let source = URLImageSource(http: .retrying(20))
    for _ in 0..<3 {
      await #expect(throws: ImageSourceError.httpStatus(503)) {
        try await bytes(server.url("/a"), from: source)
      }
    }
    #expect(server.requests.value == 3 + 10)
  }

  @Test("ends at its total time, with all its attempts")
  func totalTime() async throws {
    let server = try replying([.status(503)])
    let source = URLImageSource(.limited(total: 3), clock: clock) {
      $0.retry = RetryPolicy(limit: 100)
    }
    let task = Task {
      defer { clock.end() }
      return try await bytes(server.url("/a"), from: source)
    }
    for pause in [Duration.milliseconds(500), .seconds(1), .seconds(2)] {
      let end = clock.now + pause
      await clock.sleepers { $0 == [end] }
      clock.advance(by: pause)
    }
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(3))) { try await task.value }
    #expect(server.requests.value == 3)
  }

  @Test("resumes after a cut at each byte, each time one byte further", arguments: [true, false])
  func eachByte(_ isTagged: Bool) async throws {
    let count = isTagged ? 10 : 290
    var original = Original.version(1, count: count)
    if !isTagged { (original.tag, original.lastModified) = (nil, Original.oldDate) }
    let server = try HTTPServer { [original] request in
      // One byte more than was known; with a date, the overlap besides.
      guard let first = request.firstByte else {
        return original.part(0..<count, status: 200, cut: isTagged ? 1 : 281)
      }
      return original.part(first..<count, cut: isTagged ? 1 : 257)
    }
    let content = try await load(server.url("/a"), from: URLImageSource(http: .retrying(20)))
    #expect(content.arrivedBytes == original.bytes)
    let firsts = (isTagged ? 1...9 : 25...33).map(Optional.some)
    #expect(server.arrivedRequests.map(\.firstByte) == [nil] + firsts)
  }

  @Test("gives up after so many attempts, and leaves what came")
  func givesUp() async throws {
    let original = Original.version(1, count: 100)
    let server = try HTTPServer {
      original.part(($0.firstByte ?? 0)..<100, status: $0.firstByte == nil ? 200 : 206, cut: 1)
    }
    let slot = Download()
    await #expect(throws: ImageSourceError.truncatedBody(received: 10, expected: 100)) {
      try await load(server.url("/a"), slot: slot, from: URLImageSource(http: .retrying(9)))
    }
    #expect(server.requests.value == 10)
    #expect(slot.take()?.bytes == original.bytes.prefix(10))
  }

  private static let endless = Original.version(1, count: 600)

  /// Each ask meets the first answer, and then each answer for ever.
  @Test("asks a bounded number of times, whatever is answered", arguments: answers(endless).indices)
  func bounded(first: Int) async throws {
    let original = Self.endless
    let dated = Original(original.bytes, tag: nil, lastModified: Original.oldDate)
    let script = Lock<[HTTPReply]>([])
    let server = try HTTPServer { _ in
      script.withLock { $0.count > 1 ? $0.removeFirst() : $0.first } ?? .status(404)
    }
    let knowns = [
      nil, original.known(300, from: server), dated.known(300, from: server),
      original.known(600, from: server, isWhole: true),
    ]
    let answers = Self.answers(original)
    for last in answers {
      // Its own source, since one sends a host few requests again.
      let source = URLImageSource(http: .retrying(2))
      for known in knowns {
        script.withLock { $0 = [answers[first], last] }
        let before = server.requests.value
        let content = try? await load(server.url("/a"), known: known, from: source)
        // The first, two retries, one more without conditions; and libcurl repeats a request by itself on a
        // connection that was used before and is closed.
        #expect(server.requests.value - before <= 5)
        if let bytes = content?.arrivedBytes { #expect(bytes == original.bytes) }
      }
    }
  }

  private static func answers(_ original: Original) -> [HTTPReply] {
    [
      original.part(0..<600, status: 200), original.part(0..<600, status: 200, cut: 100),
      original.part(300..<600), original.part(300..<600, cut: 10), original.part(44..<600),
      original.part(300..<400), original.part(400..<600), original.part(0..<300),
      original.part(300..<600, changing: ["ETag": "\"v2\""]),
      HTTPReply([.bytes(HTTPReply.head(304, original.fields))]),
      HTTPReply([.bytes(HTTPReply.head(304, ["ETag": "\"v2\""]))]),
      .status(416), .status(412), .status(404), .status(503, headers: ["Retry-After": "0"]),
      HTTPReply([.cut]),
    ]
  }
}

@Suite("The patience of a load's next attempt", .timeLimit(.minutes(10)))
struct HTTPAttemptTests {
  private let original = Original.version(1)

  @Test("begins with the attempt, whatever silence or pause came before", arguments: [true, false])
  func beginsAnew(_ isSilent: Bool) async throws {
    let (silence, hook) = (Gate(), Gate())
    defer { silence.open() }
    let first =
      isSilent ? HTTPReply([.wait(silence)]) : .status(503, headers: ["Retry-After": "30"])
    let server = try HTTPServer(scripts: ["/a": [first, .ok(original.bytes)]])
    let (clock, hookCalls) = (ManualClock(), Counter())
    var options = HTTPOptions.retrying(1)
    options.idleTimeout = .seconds(2)
    options.modifyRequest = { request in
      hookCalls.increment()
      guard hookCalls.value == 2 else { return request }
      await withTaskCancellationHandler {
        await hook.pass()
      } onCancel: {
        hook.open()
      }
      return request
    }
    let source = URLImageSource(http: options, clock: clock, random: { 0 })
    let task = Task {
      defer {
        clock.end()
        hookCalls.end()
      }
      return try await bytes(server.url("/a"), from: source)
    }
    await server.requests.reaches(1)
    let pause = Duration.seconds(isSilent ? 2 : 30)
    let end = clock.now + pause
    await clock.sleepers { $0 == [end] }
    clock.advance(by: pause)
    await hookCalls.reaches(2)
    // The attempt is watched, and its hook has the whole idle time.
    let limit = clock.now + .seconds(2)
    await clock.sleepers { $0 == [limit] }
    hook.open()
    #expect(try await task.value == original.bytes)
    #expect(server.requests.value == 2)
  }

  @Test("counts no byte that was there before as one that arrived in time")
  func knownBytes() async throws {
    let (gate, original) = (Gate(), original)
    defer { gate.open() }
    let server = try HTTPServer { _ in
      HTTPReply(Array(original.part(1000..<3000, cut: 10).steps.dropLast()) + [.wait(gate)])
    }
    let (clock, arrived) = (ManualClock(), Counter())
    // 900 bytes in 30 seconds: fewer than are known.
    let source = URLImageSource(.limited(idle: 100), clock: clock) { $0.lowestByteRate = 30 }
    let known = original.known(1000, from: server)
    let task = Task {
      defer {
        arrived.end()
        clock.end()
      }
      return try await load(server.url("/a"), known: known, from: source) {
        if $0.receivedByteCount == 1010 { arrived.increment() }
      }
    }
    await arrived.reaches(1)
    clock.advance(by: .seconds(30))
    // Awake and asleep again where the rate does not end the load; then its silence would.
    let now = clock.now
    await clock.sleepers { $0.count == 1 && $0.allSatisfy { $0 > now } }
    clock.advance(by: .seconds(100))
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(30))) { try await task.value }
  }
}
