import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

/// Notes what a source does with the permit of its load.
private struct NotedPermit: SourcePermit {
  struct Refusal: Error {}

  let order = Order()
  var isRefused = false

  func acquire(_ need: LoadNeed) async throws {
    order.note("\(need)")
    if isRefused { throw Refusal() }
  }

  func giveUp() { order.note("gives up") }
}

@Suite("An HTTP load's permit", .timeLimit(.minutes(10)))
struct HTTPPermitTests {
  private let permit = NotedPermit()

  private func source(_ clock: any TimeoutClock = ContinuousClock()) -> URLImageSource {
    URLImageSource(clock: clock) { ($0.connectionsPerHost, $0.retry) = (1, RetryPolicy()) }
  }

  private func load(
    _ url: URL, from source: URLImageSource, _ permit: NotedPermit
  ) async throws -> Data? {
    let request = ImageSourceRequest(
      url: url, urgency: Urgency(.medium), byteCountLimit: 100, permit: permit)
    return try await source.response(to: request).encodedData
  }

  @Test("is the network's once its host, a redirect's too, has a turn", arguments: [false, true])
  func waitsForHost(isRedirected: Bool) async throws {
    let door = Gate()
    let busy = try HTTPServer { request in
      request.path == "/first" ? HTTPReply([.wait(door), .cut]) : .ok(Data("a".utf8))
    }
    let front = try HTTPServer(["/a": .redirect(to: busy.url("/a").absoluteString)])
    let source = source()
    let first = Task { try await bytes(busy.url("/first"), from: source) }
    await busy.requests.reaches(1)
    let url = (isRedirected ? front : busy).url("/a")
    let second = Task { try await load(url, from: source, permit) }
    while source.client.hosts.counts.waiting != 1 { await Task.yield() }
    let before = isRedirected ? ["network", "gives up"] : ["gives up"]
    // A load stands in the queue a moment before it gives its permit up.
    while permit.order.notes.count < before.count { await Task.yield() }
    #expect(permit.order.notes == before)
    first.cancel()
    door.open()
    #expect(try await second.value == Data("a".utf8))
    #expect(permit.order.notes == before + ["network"])
  }

  @Test("is given up for a pause, and asked for again behind it")
  func pauses() async throws {
    let replies = Lock([HTTPReply.status(503), .ok(Data("a".utf8))])
    let server = try HTTPServer { _ in replies.withLock { $0.removeFirst() } }
    let clock = ManualClock()
    let source = source(clock)
    let task = Task {
      defer { clock.end() }
      return try await load(server.url("/a"), from: source, permit)
    }
    let end = clock.now + .milliseconds(500)
    await clock.sleepers { $0 == [end] }
    #expect(permit.order.notes == ["network", "gives up"])
    clock.advance(by: .milliseconds(500))
    #expect(try await task.value == Data("a".utf8))
    #expect(permit.order.notes == ["network", "gives up", "network"])
  }

  @Test("is asked for before anything is sent; a refusal ends the load, and others reach its host")
  func refused() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    let source = source()
    await #expect(throws: NotedPermit.Refusal.self) {
      try await load(server.url("/a"), from: source, NotedPermit(isRefused: true))
    }
    #expect(server.requests.value == 0)
    #expect(try await load(server.url("/a"), from: source, permit) == Data("a".utf8))
  }

  @Test("is not to be had by a source that leads a request further than its scope")
  func outOfReach() async throws {
    let server = try HTTPServer(["/a": .ok(Data("a".utf8))])
    let (web, url) = (source(), server.url("/a"))
    let fixture = try await Fixture {
      $0.source = ClosureImageSource { try await web.response(to: $0.with(url: url)) }
    }
    await #expect(throws: ImageCacheError.notCached(entity: "a", format: "row")) {
      try await fixture.image(Photo("a", url: "photo:1"), .row, LoadOptions(scope: .local))
    }
    #expect(server.requests.value == 0)
  }
}
