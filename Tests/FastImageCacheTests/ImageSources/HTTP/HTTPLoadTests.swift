import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("An HTTP load", .timeLimit(.minutes(10)))
struct HTTPLoadTests {
  @Test("ends at once when its task is cancelled, and drops the connection")
  func cancelled() async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try HTTPServer([
      "/a": .lying(contentLength: 100, [.bytes(Data(count: 50)), .wait(gate)])
    ])
    let arrived = Counter()
    let task = Task {
      try await bytes(server.url("/a")) { if $0.receivedByteCount == 50 { arrived.increment() } }
    }
    await arrived.reaches(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await server.abandonments.reaches(1)
  }

  @Test("asks for nothing when its task is cancelled already")
  func cancelledBeforehand() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8)), "/b": .ok(Data("b".utf8))])
    let source = URLImageSource(http: .patient)
    let gate = Gate()
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

  @Test("ends when nothing arrives for the idle time, and drops the connection")
  func idle() async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try HTTPServer([
      "/a": .lying(contentLength: 100, [.bytes(Data(count: 50)), .wait(gate)])
    ])
    let clock = ManualClock()
    let source = URLImageSource(http: .limited(idle: 2), clock: clock)
    let arrived = Counter()
    let load = Task {
      defer { arrived.end() }
      return try await bytes(server.url("/a"), from: source) {
        if $0.receivedByteCount == 50 { arrived.increment() }
      }
    }
    await arrived.reaches(1)
    clock.advance(by: .seconds(2))
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(2))) { try await load.value }
    await server.abandonments.reaches(1)
  }

  @Test("is not ended while something arrives within each idle time")
  func slow() async throws {
    let gates = (0..<5).map { _ in Gate() }
    defer { for gate in gates { gate.open() } }
    let server = try HTTPServer([
      "/a": .chunked(gates.flatMap { [.bytes(Data(count: 10)), .wait($0)] })
    ])
    let clock = ManualClock()
    let source = URLImageSource(http: .limited(idle: 3), clock: clock)
    let arrived = Counter()
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
    let clock = ManualClock()
    var options = HTTPOptions.limited(idle: 3)
    options.connectionsPerHost = 1
    let source = URLImageSource(http: options, clock: clock)
    let server = try HTTPServer([
      "/a": .chunked([.endless(Data(count: 10))]), "/b": .ok(Data("b".utf8)),
    ])
    let arrived = Counter()
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

  @Test(
    "is shared by requests whose URLs differ in their fragments only, unless the source is the program's"
  )
  func sharesFragments() async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try HTTPServer { _ in HTTPReply([.wait(gate)]) }
    let (web, own) = (URLImageSource(http: .patient), EncodedSource(gate: CancellableGate()))
    for (source, count) in [(web, 1), (own, 2)] as [(any ImageSource, Int)] {
      let fixture = try await Fixture { $0.source = source }
      let tasks = ["1", "2"].map { name in
        let photo = Photo(ImageID(name), url: server.url("/a#\(name)").absoluteString)
        return Task { try await fixture.cache.image(for: photo, format: .row) }
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
    let clock = ManualClock()
    let source = URLImageSource(http: .limited(total: 2), clock: clock)
    let arrived = Counter()
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
    var options = HTTPOptions.limited(idle: 25)
    options.lowestByteRate = 1001
    let (clock, arrived) = (ManualClock(), Counter())
    let source = URLImageSource(http: options, clock: clock)
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
    let gate = Gate()
    defer { gate.open() }
    let server = try HTTPServer(["/a": HTTPReply([.wait(gate)])])
    let source = URLImageSource(http: .limited(idle: 1))
    await #expect(throws: ImageSourceError.timedOut(after: .seconds(1))) {
      try await bytes(server.url("/a"), from: source)
    }
  }
}
