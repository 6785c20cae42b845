import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache
@testable import LoadQueue

/// A source that calls back when it is asked for its need.
private struct NeedingSource: NeedNamingSource {
  let willNeed: @Sendable () -> Void

  func need(for url: URL) -> LoadNeed {
    willNeed()
    return .local
  }

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    .bitmap(try solid(1))
  }
}

@Suite("A load that waits at its gate", .timeLimit(.minutes(10)))
struct WaitingLoadTests {
  private let resources = LoadResources(networkWidth: 1, localWidth: 1)
  @TaskLocal private static var number = 0

  private var gate: AdmissionQueue { resources[.local] }

  private func fixture(_ source: ScriptedSource = ScriptedSource()) async throws -> Fixture {
    try await Fixture(source: source) { $0.resources = resources }
  }

  private func load(
    _ entity: some ImageEntity, from fixture: Fixture, _ options: LoadOptions = LoadOptions()
  ) -> Task<Int?, any Error> {
    Task { try await fixture.image(entity, .row, options).solidNumber }
  }

  private func waits(_ count: Int, at need: LoadNeed = .local) async {
    while resources[need].counts.waiting != count, !Task.isCancelled { await Task.yield() }
  }

  private func isFree() async {
    while gate.counts != (0, 0), !Task.isCancelled { await Task.yield() }
  }

  @Test("is gone with its last subscriber, before the cancellation returns")
  func isGivenUp() async throws {
    let fixture = try await fixture()
    let place = try await gate.enter(Urgency(.high))
    let loading = (0..<2).map { _ in load(PlainPhoto(number: 7), from: fixture) }
    await fixture.subscribers(2)
    await waits(1)
    loading[0].cancel()
    #expect(gate.counts == (1, 1))
    loading[1].cancel()
    #expect(gate.counts == (0, 1))
    #expect(await fixture.cache.statistics().cancellations == 1)
    gate.finish(place)
    #expect(gate.counts == (0, 0))
    #expect(try await load(PlainPhoto(number: 8), from: fixture).value == 8)
    #expect(fixture.source.started.value == 1)
    await isFree()
  }

  @Test("does not come to wait if its request was just given up", arguments: [false, true])
  func isGivenUpBefore(isOccupied: Bool) async throws {
    let (begun, needs) = (Lock<Task<Int?, any Error>?>(nil), Counter())
    let source = NeedingSource {
      needs.increment()
      begun.withLock { $0 }?.cancel()
    }
    let fixture = try await Fixture(from: source) { $0.resources = resources }
    let place = isOccupied ? try await gate.enter(Urgency(.high)) : nil
    let door = CancellableGate()
    let loading = Task {
      try await door.pass()
      return try await fixture.image(PlainPhoto(number: 1)).solidNumber
    }
    begun.withLock { $0 = loading }
    door.open()
    await #expect(throws: ImageCacheError.self) { try await loading.value }
    await fixture.quiet()
    if let place {
      #expect(gate.counts == (0, 1))
      gate.finish(place)
    }
    await isFree()
    begun.withLock { $0 = nil }
    #expect(try await load(PlainPhoto(number: 2), from: fixture).value == 1)
    // Once for each load.
    #expect(needs.value == 2)
  }

  @Test("is withdrawn when its cache is closed, and is not waited for")
  func closes() async throws {
    let fixture = try await fixture()
    let place = try await gate.enter(Urgency(.high))
    let loading = (1...3).map { load(PlainPhoto(number: $0), from: fixture) }
    await waits(3)
    await fixture.cache.close()
    await fixture.cache.loadsHaveEnded()
    #expect(gate.counts == (0, 1))
    for task in loading {
      await #expect(throws: ImageCacheError.self) { try await task.value }
    }
    gate.finish(place)
    #expect(fixture.source.started.value == 0)
  }

  @Test("is refused at once, and waits nowhere, if its source asks for the same image")
  func ring() async throws {
    let (cache, door, gate) = (Lock<ImageCache?>(nil), CancellableGate(), self.gate)
    let fixture = try await fixture(
      ScriptedSource { url, _, _ in
        guard url.lastPathComponent == "1", let cache = cache.withLock({ $0 }) else {
          try await door.pass()
          return .bitmap(try solid(2))
        }
        // Comes to the place that this load gives up for the next request.
        while gate.counts.waiting == 0, !Task.isCancelled { await Task.yield() }
        await #expect(throws: ImageCacheError.self) {
          try await cache.image(for: PlainPhoto(number: 1), format: .row)
        }
        return .bitmap(try solid(1))
      })
    cache.withLock { $0 = fixture.cache }
    let first = load(PlainPhoto(number: 1), from: fixture)
    await fixture.source.started.reaches(1)
    let second = load(PlainPhoto(number: 2), from: fixture)
    #expect(try await first.value == 1)
    door.open()
    #expect(try await second.value == 2)
    cache.withLock { $0 = nil }
    await isFree()
  }

  @Test("has the task-local values of its first request")
  func taskLocals() async throws {
    let seen = Order()
    let fixture = try await fixture(
      ScriptedSource { _, _, _ in
        seen.note("\(Self.number)")
        return .bitmap(try solid(1))
      })
    try await Self.$number.withValue(3) {
      _ = try await load(PlainPhoto(number: 1), from: fixture).value
      await isFree()
      let place = try await gate.enter(Urgency(.high))
      let loading = load(PlainPhoto(number: 2), from: fixture)
      await waits(1)
      gate.finish(place)
      _ = try await loading.value
    }
    #expect(seen.notes == ["3", "3"])
  }

  @Test("keeps no other load waiting when it is given up at whatever moment")
  func givenUpAtRandom() async throws {
    let resources = LoadResources(localWidth: 2)
    let peak = Peak()
    let fixture = try await Fixture(
      source: ScriptedSource { url, call, _ in
        peak.enter()
        defer { peak.leave() }
        for _ in 0..<call % 4 { await Task.yield() }
        return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
      }
    ) { $0.resources = resources }
    var random = SplitMix64(state: 17)
    var loading: [Task<Int?, any Error>] = []
    for number in 0..<400 {
      loading.append(load(PlainPhoto(number: number), from: fixture))
      loading[Int.random(in: 0...number, using: &random)].cancel()
      if number % 16 == 0 { await Task.yield() }
    }
    for (number, task) in loading.enumerated() {
      if case .success(let image) = await task.result { #expect(image == number) }
    }
    await fixture.quiet()
    while resources[.local].counts != (0, 0), !Task.isCancelled { await Task.yield() }
    #expect(peak.value <= 2)
    #expect(try await load(PlainPhoto(number: 500), from: fixture).value == 500)
  }
}
