import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("The limiter of hosts", .timeLimit(.minutes(10)))
struct HostLimiterTests {
  private let inside = Counter()
  private let door = Gate()

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private func withPermit(
    _ limiter: HostLimiter, _ url: URL, _ body: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, any Error> {
    Task { try await limiter.withPermit(for: url, urgency: Urgency(.medium), body) }
  }

  /// Has a request inside until the door opens.
  private func occupy(_ limiter: HostLimiter, _ url: URL) async -> Task<Void, any Error> {
    let first = withPermit(limiter, url) { [inside, door] in
      inside.increment()
      await door.pass()
    }
    await inside.reaches(1)
    return first
  }

  @Test(
    "keeps hosts apart",
    arguments: ["https://b.example/1", "http://a.example/1", "https://a.example:444/1"])
  func apart(_ other: String) async throws {
    let limiter = HostLimiter(width: 1)
    let first = try await occupy(limiter, url("https://a.example/1"))
    try await withPermit(limiter, try url(other)) {}.value
    door.open()
    try await first.value
  }

  @Test("takes different spellings of a name for one host")
  func spelling() async throws {
    let limiter = HostLimiter(width: 1)
    let tasks = try ["https://a.example/1", "HTTPS://A.Example:443/2"].map { text in
      withPermit(limiter, try url(text)) {
        inside.increment()
        await door.pass()
      }
    }
    while limiter.counts.requests < 2 { await Task.yield() }
    #expect(limiter.counts.hosts == 1)
    door.open()
    for task in tasks { try await task.value }
  }

  @Test("lets the most urgent in first, as urgent as each has become while it waited")
  func urgency() async throws {
    let limiter = HostLimiter(width: 1)
    let order = Order()
    let url = try url("https://a.example/1")
    let first = await occupy(limiter, url)
    let (raised, lowered) = (Urgency(.background), Urgency(.high))
    let waiting: [(String, Urgency)] = [
      ("lowered", lowered), ("low", Urgency(.low)), ("raised", raised),
      ("medium", Urgency(.medium)),
    ]
    let tasks = waiting.map { name, urgency in
      Task { try await limiter.withPermit(for: url, urgency: urgency) { order.note(name) } }
    }
    while limiter.counts.waiting < waiting.count { await Task.yield() }
    raised.set(.high)?()
    lowered.set(.background)?()
    door.open()
    for task in tasks + [first] { try await task.value }
    #expect(order.notes == ["raised", "medium", "low", "lowered"])
  }

  @Test("lets go of a request that is cancelled while it waits")
  func cancelled() async throws {
    let limiter = HostLimiter(width: 1)
    let url = try url("https://a.example/1")
    let first = await occupy(limiter, url)
    let second = withPermit(limiter, url) { Issue.record("It was let in.") }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    door.open()
    try await first.value
    #expect(limiter.counts.hosts == 0)
  }
}

@Suite("Idle connections", .timeLimit(.minutes(10)))
struct HTTPIdleConnectionTests {
  private let body = Data("a picture".utf8)

  private func load(_ url: URL, from source: URLImageSource) async throws -> Data? {
    try await source.response(to: ImageSourceRequest(url: url)).encodedData
  }

  @Test("serve the next request, and are closed when memory is short")
  func closes() async throws {
    let server = try HTTPServer(["/a": .ok(body)])
    let source = URLImageSource(http: .patient)
    for _ in 0..<2 { #expect(try await load(server.url("/a"), from: source) == body) }
    #expect(server.endedConnections.value == 0)
    for count in 1...3 {
      source.closeIdleConnections()
      await server.endedConnections.reaches(count)
      #expect(try await load(server.url("/a"), from: source) == body)
    }
  }

  @Test("are closed when the last download under way is over, which goes on")
  func closesLater() async throws {
    let gate = Gate()
    let server = try HTTPServer([
      "/a": .ok(body),
      "/held": .lying(
        contentLength: 9, [.bytes(body.prefix(4)), .wait(gate), .bytes(body.dropFirst(4))]),
    ])
    let source = URLImageSource(http: .patient)
    let held = Task { try await load(server.url("/held"), from: source) }
    await server.requests.reaches(1)
    source.closeIdleConnections()
    // A request that begins meanwhile is served as well.
    #expect(try await load(server.url("/a"), from: source) == body)
    #expect(server.endedConnections.value == 0)
    gate.open()
    #expect(try await held.value == body)
    await server.endedConnections.reaches(2)
    #expect(try await load(server.url("/a"), from: source) == body)
  }

  @Test("of a source that has connected to nothing are none")
  func none() async throws {
    let (server, source) = (try HTTPServer(["/a": .ok(body)]), URLImageSource(http: .patient))
    source.closeIdleConnections()
    #expect(try await load(server.url("/a"), from: source) == body)
    #expect(server.endedConnections.value == 0)
  }
}

@Suite("The times of requests", .timeLimit(.minutes(10)))
struct NetworkDurationsTests {
  private func stages(_ ends: [Int]) -> [Int64] {
    let times = NetworkDurations(ends: ends)
    return [times.lookup, times.connect, times.handshake, times.firstByte, times.transfer].map {
      $0.components.attoseconds / 1_000_000_000_000
    }
  }

  @Test("are the parts between the ends of the stages")
  func areParts() {
    #expect(stages([100, 300, 900, 1500, 2000]) == [100, 200, 600, 600, 500])
    // Plain http.
    #expect(stages([100, 300, 0, 1500, 2000]) == [100, 200, 0, 1200, 500])
    // A connection that was there.
    #expect(stages([0, 0, 0, 1500, 2000]) == [0, 0, 0, 1500, 500])
    #expect(stages([]) == [0, 0, 0, 0, 0])
    let twice = NetworkDurations(ends: [1, 2]) + NetworkDurations(ends: [10, 30])
    #expect(twice == NetworkDurations(ends: [11, 32]))
  }

  #if !canImport(Darwin)
    @Test("are told in the report of a load from a web server, redirects included, and of no other")
    func areTold() async throws {
      let server = try HTTPServer(["/a": .redirect(to: "/b"), "/b": .ok(try solid(1).pngData())])
      let test = try await Fixture(from: URLImageSource(http: .patient))
      let photo = Photo(1, url: server.url("/a").absoluteString)
      let report = try await test.cache.load(photo, format: .row).report
      let network = try #require(report.network)
      #expect(network.firstByte > .zero && network.handshake == .zero)
      #expect(network.firstByte + network.connect + network.transfer <= report.fetchDuration)
      #expect(try await test.cache.load(photo, format: .row).report.network == nil)
      let data = "data:image/png;base64,\(try solid(2).pngData().base64EncodedString())"
      #expect(try await test.cache.load(Photo(2, url: data), format: .row).report.network == nil)
    }
  #endif
}
