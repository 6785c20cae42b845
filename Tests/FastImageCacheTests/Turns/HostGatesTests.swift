import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The gates of hosts", .timeLimit(.minutes(10)))
struct HostGatesTests {
  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private func pass(
    _ gates: HostGates, _ url: URL, _ body: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, any Error> {
    Task { try await gates.pass(for: url, urgency: Urgency(.medium), body) }
  }

  @Test("let no more in than their width, and forget hosts that nobody asks")
  func width() async throws {
    let gates = HostGates(width: 2)
    let (inside, most, door) = (Counter(), Peak(), Gate())
    let url = try url("https://a.example/1")
    let tasks = (0..<6).map { _ in
      pass(gates, url) {
        most.enter()
        inside.increment()
        await door.pass()
        most.leave()
      }
    }
    await inside.reaches(2)
    #expect(gates.counts.hosts == 1)
    door.open()
    for task in tasks { try await task.value }
    #expect(most.value == 2)
    #expect(gates.counts.hosts == 0)
  }

  @Test(
    "keep hosts apart",
    arguments: ["https://b.example/1", "http://a.example/1", "https://a.example:444/1"])
  func apart(_ other: String) async throws {
    let gates = HostGates(width: 1)
    let (inside, door) = (Counter(), Gate())
    let first = pass(gates, try url("https://a.example/1")) {
      inside.increment()
      await door.pass()
    }
    await inside.reaches(1)
    try await pass(gates, try url(other)) {}.value
    door.open()
    try await first.value
  }

  @Test("take different spellings of a name for one host")
  func spelling() async throws {
    let gates = HostGates(width: 1)
    let (inside, door) = (Counter(), Gate())
    let tasks = try ["https://a.example/1", "HTTPS://A.Example:443/2"].map { text in
      pass(gates, try url(text)) {
        inside.increment()
        await door.pass()
      }
    }
    while gates.counts.requests < 2 { await Task.yield() }
    #expect(gates.counts.hosts == 1)
    door.open()
    for task in tasks { try await task.value }
  }

  @Test("let the most urgent in first, as urgent as each has become while it waited")
  func urgency() async throws {
    let gates = HostGates(width: 1)
    let (inside, door, order) = (Counter(), Gate(), Order())
    let url = try url("https://a.example/1")
    let first = pass(gates, url) {
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
      Task { try await gates.pass(for: url, urgency: urgency) { order.note(name) } }
    }
    while gates.counts.waiting < waiting.count { await Task.yield() }
    raised.set(.high)?()
    lowered.set(.background)?()
    door.open()
    for task in tasks + [first] { try await task.value }
    #expect(order.notes == ["raised", "medium", "low", "lowered"])
  }

  @Test("let go of whoever is cancelled while it waits")
  func cancelled() async throws {
    let gates = HostGates(width: 1)
    let (inside, door) = (Counter(), Gate())
    let url = try url("https://a.example/1")
    let first = pass(gates, url) {
      inside.increment()
      await door.pass()
    }
    await inside.reaches(1)
    let second = pass(gates, url) { Issue.record("It was let in.") }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    door.open()
    try await first.value
    #expect(gates.counts.hosts == 0)
  }
}
