import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("An HTTP load", .timeLimit(.minutes(10)))
struct HTTPLoadTests {
  private let gate = Gate()
  private let clock = ManualClock()
  private let arrived = Counter()

  @Test(
    "ends, and drops the connection, when it is cancelled or silent for the idle time",
    arguments: [true, false])
  func ends(isCancelled: Bool) async throws {
    defer { gate.open() }
    let server = try HTTPServer([
      "/a": .lying(contentLength: 100, [.bytes(Data(count: 50)), .wait(gate)])
    ])
    let (clock, arrived) = (ManualClock(), Counter())
    let source = URLImageSource(http: .limited(idle: 2), clock: clock)
    let load = Task {
      defer { arrived.end() }
      return try await bytes(server.url("/a"), from: source) {
        if $0.receivedByteCount == 50 { arrived.increment() }
      }
    }
    await arrived.reaches(1)
    if isCancelled {
      load.cancel()
      await #expect(throws: CancellationError.self) { try await load.value }
    } else {
      clock.advance(by: .seconds(2))
      await #expect(throws: ImageSourceError.timedOut(after: .seconds(2))) { try await load.value }
    }
    await server.abandonments.reaches(1)
  }

  @Test("asks for nothing when its task is cancelled already")
  func cancelledBeforehand() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8)), "/b": .ok(Data("b".utf8))])
    let source = URLImageSource(http: .patient)
    let task = Task {
      await gate.pass()
      return try await bytes(server.url("/a"), from: source)
    }
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await bytes(server.url("/b"), from: source) == Data("b".utf8))
    #expect(server.arrivedRequests.map(\.path) == ["/b"])
  }

  @Test("ends cleanly wherever a cancellation meets it")
  func cancelledAnywhere() async throws {
    let body = Data(count: 200_000)
    let server = try HTTPServer { request in
      request.path == "/moved" ? .redirect(to: "/a") : .ok(body)
    }
    let source = URLImageSource(http: .patient)
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<200 {
        group.addTask {
          let task = Task {
            try await bytes(server.url(index % 4 == 0 ? "/moved" : "/a"), from: source)
          }
          for _ in 0..<(index * 7 % 400) { await Task.yield() }
          task.cancel()
          switch await task.result {
          case .success(let bytes): #expect(bytes == body)
          case .failure(let error): #expect(error is CancellationError)
          }
        }
      }
    }
    #expect(try await bytes(server.url("/a"), from: source) == body)
  }

  @Test("is not ended while something arrives within each idle time")
  func slow() async throws {
    let gates = (0..<5).map { _ in Gate() }
    defer { for gate in gates { gate.open() } }
    let server = try HTTPServer([
      "/a": .chunked(gates.flatMap { [.bytes(Data(count: 10)), .wait($0)] })
    ])
    let source = URLImageSource(http: .limited(idle: 3), clock: clock)
    let load = Task {
      defer {
        arrived.end()
        clock.end()
      }
      return try await bytes(server.url("/a"), from: source) {
        while arrived.value < $0.receivedByteCount / 10 { arrived.increment() }
      }
    }
    for (index, gate) in gates.enumerated() {
      await arrived.reaches(index + 1)
      clock.advance(by: .seconds(2))
      // Awake and asleep again: it was looked after, and nothing found.
      let now = clock.now
      await clock.sleepers { $0.allSatisfy { $0 > now } && $0.count == 1 }
      gate.open()
    }
    #expect(try await load.value == Data(count: 50))
  }

  @Test("is not ended for silence while it waits for its turn with a host")
  func waitsItsTurn() async throws {
    let source = URLImageSource(.limited(idle: 3), clock: clock) { $0.connectionsPerHost = 1 }
    let server = try HTTPServer([
      "/a": .chunked([.endless(Data(count: 10))]), "/b": .ok(Data("b".utf8)),
    ])
    let first = Task {
      defer {
        arrived.end()
        clock.end()
      }
      return try await bytes(server.url("/a"), from: source, limit: .max) { _ in
        arrived.increment()
      }
    }
    await arrived.reaches(1)
    let second = Task {
      defer { clock.end() }
      return try await bytes(server.url("/b"), from: source)
    }
    // It stands at the gate, and both are watched.
    while source.client.hosts.counts.waiting != 1 { await Task.yield() }
    await clock.sleepers { $0.count == 2 }

    for _ in 0..<5 {
      clock.advance(by: .seconds(2))
      let (now, count) = (clock.now, arrived.value)
      await clock.sleepers { $0.allSatisfy { $0 > now } && $0.count == 2 }
      // One may have been on its way before the time moved, the next has not.
      await arrived.reaches(count + 2)
    }
    first.cancel()
    #expect(try await second.value == Data("b".utf8))
  }

  @Test("is shared by URLs that differ in fragments only, unless the source is the program's")
  func sharesFragments() async throws {
    defer { gate.open() }
    let server = try HTTPServer { _ in HTTPReply([.wait(gate)]) }
    let (web, own) = (URLImageSource(http: .patient), EncodedSource(gate: CancellableGate()))
    for (source, count) in [(web, 1), (own, 2)] as [(any ImageSource, Int)] {
      let fixture = try await Fixture { $0.source = source }
      let tasks = ["1", "2"].map { name in
        let photo = Photo(ImageID(name), url: server.url("/a#\(name)").absoluteString)
        return Task { try await fixture.image(photo) }
      }
      await fixture.subscribers(2)
      #expect(await fixture.cache.statistics().activeLoads == count)
      for task in tasks { task.cancel() }
    }
  }

  @Test("reaches its host while forty others wait for one that does not answer")
  func besidesDeadHost() async throws {
    let never = Gate()
    defer { never.open() }
    let dead = try HTTPServer { _ in HTTPReply([.wait(never)]) }
    let live = try HTTPServer(["/a": .ok(Data("no image".utf8))])
    let fixture = try await Fixture { $0.source = URLImageSource(http: .patient) }
    let cache = fixture.cache
    let waiting = (0..<40).map { number in
      let photo = Photo(ImageID(number), url: dead.url("/\(number)").absoluteString)
      return Task { try await cache.image(for: photo, format: .row) }
    }
    await dead.requests.reaches(HTTPOptions().connectionsPerHost)
    await fixture.subscribers(40)
    let photo = Photo("a", url: live.url("/a").absoluteString)
    await #expect(throws: ImageCacheError.self) { try await cache.image(for: photo, format: .row) }
    #expect(live.requests.value == 1)
    for task in waiting { task.cancel() }
  }

  @Test("ends after its total time however much arrives")
  func total() async throws {
    let server = try HTTPServer(["/a": .chunked([.endless(Data(count: 10))])])
    let source = URLImageSource(http: .limited(total: 2), clock: clock)
    let load = Task {
      defer { arrived.end() }
      return try await bytes(server.url("/a"), from: source, limit: .max) { _ in
        arrived.increment()
      }
    }
    await arrived.reaches(3)
    clock.advance(by: .seconds(2))
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(2))) { try await load.value }
    await server.abandonments.reaches(1)
  }

  @Test("ends when its body comes too slowly, though it is never silent")
  func tooSlow() async throws {
    let (first, second) = (Gate(), Gate())
    defer { second.open() }
    let server = try HTTPServer([
      "/a": .chunked([
        .bytes(Data(count: 10)), .wait(first), .bytes(Data(count: 29_990)), .wait(second),
      ])
    ])
    let (clock, arrived) = (ManualClock(), Counter())
    let source = URLImageSource(.limited(idle: 25), clock: clock) { $0.lowestByteRate = 1001 }
    let load = Task {
      defer { arrived.end() }
      return try await bytes(server.url("/a"), from: source) {
        if [10, 30_000].contains($0.receivedByteCount) { arrived.increment() }
      }
    }
    await arrived.reaches(1)
    clock.advance(by: .seconds(20))
    first.open()
    await arrived.reaches(2)
    clock.advance(by: .seconds(10))
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(30))) { try await load.value }
  }

  @Test("is timed by the system's clock where no other is given")
  func systemClock() async throws {
    defer { gate.open() }
    let server = try HTTPServer(["/a": HTTPReply([.wait(gate)])])
    let source = URLImageSource(http: .limited(idle: 1))
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(1))) {
      try await bytes(server.url("/a"), from: source)
    }
  }
}

@Suite("A load's timeouts", .timeLimit(.minutes(10)))
struct HTTPTimeoutsTests {
  private let start = ContinuousClock.now

  private func patience(idle: Int = 10, total: Int? = 60, rate: Int = 0) -> HTTPTimeouts {
    var options = HTTPOptions()
    options.idleTimeout = .seconds(idle)
    options.totalTimeout = total.map { .seconds($0) }
    options.lowestByteRate = rate
    return HTTPTimeouts(options, now: start)
  }

  private func at(_ seconds: Int) -> HTTPTimeouts.Instant { start + .seconds(seconds) }

  @Test("judges no span by its rate in which nothing came, nor one before a pause")
  func silence() {
    var patience = patience(idle: 100, total: nil, rate: 100)
    #expect(patience.exceededLimit(at(99)) == nil)
    patience.touch(at(99), byteCount: 1)
    patience.pause(at(100))
    #expect(patience.exceededLimit(at(1000)) == nil)
    patience.resume(at(1000))
    #expect(patience.exceededLimit(at(1050)) == nil)
    patience.touch(at(1050), byteCount: 1)
    #expect(patience.exceededLimit(at(1079)) == nil)
    #expect(patience.exceededLimit(at(1080)) == .rate(.seconds(30)))
  }

  /// Whoever sleeps until each `nextCheck` in turn notices a limit in the second in which it is over,
  /// whatever happens meanwhile.
  @Test("lets nobody sleep past a limit", arguments: 0..<500)
  func nextCheck(_ seed: UInt64) {
    var random = SplitMix64(state: seed)
    var patience = patience(
      idle: .random(in: 1...50, using: &random), total: .random(in: 1...90, using: &random),
      rate: Bool.random(using: &random) ? 1 : 0)
    var check = patience.nextCheck(start)
    for second in 1...120 {
      let now = at(second)
      if patience.exceededLimit(now) != nil {
        #expect(check <= now)
        return
      }
      if now >= check { check = patience.nextCheck(now) }
      #expect(check > now)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: patience.touch(now)
      case 3: patience.touch(now, byteCount: .random(in: 0...4, using: &random))
      case 1: patience.pause(now)
      case 2: patience.resume(now)
      default: break
      }
    }
  }
}
