import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("The limiter of hosts", .timeLimit(.minutes(10)))
struct HostLimiterTests {
  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private func withPermit(
    _ limiter: HostLimiter, _ url: URL, _ body: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, any Error> {
    Task { try await limiter.withPermit(for: url, urgency: Urgency(.medium), body) }
  }

  @Test(
    "keeps hosts apart",
    arguments: ["https://b.example/1", "http://a.example/1", "https://a.example:444/1"])
  func apart(_ other: String) async throws {
    let limiter = HostLimiter(width: 1)
    let (inside, door) = (Counter(), Gate())
    let first = withPermit(limiter, try url("https://a.example/1")) {
      inside.increment()
      await door.pass()
    }
    await inside.reaches(1)
    try await withPermit(limiter, try url(other)) {}.value
    door.open()
    try await first.value
  }

  @Test("takes different spellings of a name for one host")
  func spelling() async throws {
    let limiter = HostLimiter(width: 1)
    let (inside, door) = (Counter(), Gate())
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
    let (inside, door, order) = (Counter(), Gate(), Order())
    let url = try url("https://a.example/1")
    let first = withPermit(limiter, url) {
      inside.increment()
      await door.pass()
    }
    await inside.reaches(1)
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
    let (inside, door) = (Counter(), Gate())
    let url = try url("https://a.example/1")
    let first = withPermit(limiter, url) {
      inside.increment()
      await door.pass()
    }
    await inside.reaches(1)
    let second = withPermit(limiter, url) { Issue.record("It was let in.") }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    door.open()
    try await first.value
    #expect(limiter.counts.hosts == 0)
  }
}
