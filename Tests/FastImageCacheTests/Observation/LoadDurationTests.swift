import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import LoadQueue

extension LoadReport {
  /// Waits, fetch, store, total.
  fileprivate var clockSeconds: [Int64] {
    [waitDuration, fetchDuration, storeDuration, totalDuration].map(\.components.seconds)
  }
}

@Suite("The durations of a report", .timeLimit(.minutes(10)))
struct LoadDurationTests {
  private let clock = ManualClock()

  @Test(
    "are those at the gate and before a worker, at the source, and in all with the hook",
    arguments: [Photo("7"), PlainPhoto(number: 7)] as [any ImageEntity])
  func parts(of entity: any ImageEntity) async throws {
    let resources = LoadResources(decodeWidth: 1, localWidth: 1)
    let (clock, asked, hooked) = (self.clock, Counter(), Counter())
    let source = EncodedSource(need: .local) { request, _ in
      asked.increment()
      clock.advance(by: .seconds(2))
      return .encoded(try solid(7).pngData())
    }
    let fixture = try await Fixture(from: source) { configuration in
      (configuration.resources, configuration.clock) = (resources, clock)
      configuration.willStore = { _ in
        clock.advance(by: .seconds(100))
        hooked.increment()
      }
    }
    let permit = try await resources[.local].enter(Urgency(.high))
    let worker = try await Occupied(resources.workers)
    let loading = Task { try await fixture.cache.load(entity, format: .row).report }
    while resources[.local].counts.waiting == 0, !Task.isCancelled { await Task.yield() }
    clock.advance(by: .seconds(1))
    resources[.local].finish(permit)
    while resources.workers.counts.waiting == 0, !Task.isCancelled { await Task.yield() }
    clock.advance(by: .seconds(4))
    try await worker.leave()
    let report = try await loading.value
    #expect(report.clockSeconds == [1 + 4, 2, 0, 107])
    #expect(report.decodeDuration > .zero && report.drawDuration > .zero)
    #expect((asked.value, hooked.value) == (1, 1))
  }

  @Test("of an entity's own image count as fetched, and its silence does not")
  func ofEntity() async throws {
    let clock = clock
    let fixture = try await Fixture(from: EncodedSource()) { $0.clock = clock }
    var photo = Photo("7")
    photo.ownImage = { _ in
      clock.advance(by: .seconds(3))
      return .bitmap(try solid(7))
    }
    let own = try await fixture.cache.load(photo, format: .row).report
    #expect(own.clockSeconds == [0, 3, 0, 3] && own.decodeDuration == .zero)
    photo = Photo("8")
    photo.ownImage = { _ in
      clock.advance(by: .seconds(3))
      return nil
    }
    #expect(try await fixture.cache.load(photo, format: .row).report.clockSeconds == [0, 0, 0, 3])
  }

  @Test("of a joined load begin before its request")
  func ofJoined() async throws {
    let (clock, gate, asked) = (self.clock, CancellableGate(), Counter())
    let source = EncodedSource { request, _ in
      asked.increment()
      try await gate.pass()
      return .encoded(try solid(7).pngData())
    }
    let fixture = try await Fixture(from: source) { $0.clock = clock }
    async let first = fixture.cache.image(for: Photo("7"), format: .row)
    await asked.reaches(1)
    clock.advance(by: .seconds(10))
    async let joined = fixture.cache.load(Photo("7"), format: .row).report
    await fixture.subscribers(2)
    clock.advance(by: .seconds(1))
    gate.open()
    let report = try await joined
    _ = try await first
    #expect(report.clockSeconds == [0, 11, 0, 1] && report.isCoalesced)
  }
}
