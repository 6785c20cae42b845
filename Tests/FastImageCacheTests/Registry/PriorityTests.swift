import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The priority of a load", .timeLimit(.minutes(10)))
struct PriorityTests: HeldLoadSuite {
  let started = Counter()
  let door = CancellableGate()
  let asked = Lock<[ImageSourceRequest]>([])

  private func waiter(
    _ priority: TaskPriority, in fixture: Fixture
  ) -> Task<CachedImage, any Error> {
    Task(priority: priority) { try await fixture.cache.image(for: photo, format: .row) }
  }

  @Test("rises with each more urgent subscriber, and falls when that one is cancelled")
  func risesAndFalls() async throws {
    let fixture = try await fixture()
    let low = waiter(.low, in: fixture)
    await started.reaches(1)
    #expect(priority == .low)
    let medium = waiter(.medium, in: fixture)
    await fixture.subscribers(2)
    #expect(priority == .medium)
    let high = waiter(.high, in: fixture)
    await fixture.subscribers(3)
    #expect(priority == .high)
    // Before `cancel()` returns.
    high.cancel()
    #expect(priority == .medium)
    medium.cancel()
    #expect(priority == .low)
    door.open()
    _ = try await low.value
  }

  @Test("of a load that another one asked for is that other one's, unless it was chosen")
  func ofAskedLoad() async throws {
    let fixture = try await fixture()
    let (cache, inner) = (fixture.cache, Photo("b", url: "test:/b"))
    var outer = photo
    outer.ownImage = { _ in
      .bitmap(try solid(try await cache.image(for: inner, format: .row).solidNumber ?? 0))
    }
    let entity = outer
    let low = Task(priority: .low) { try await cache.image(for: entity, format: .row) }
    await started.reaches(1)
    #expect(priority == .low)
    let high = Task(priority: .high) { try await cache.image(for: entity, format: .row) }
    // The outer load is as urgent once this subscriber is counted; the inner one is told a moment later.
    while priority != .high, !Task.isCancelled { await Task.yield() }
    #expect(priority == .high)
    // Before `cancel()` returns.
    high.cancel()
    #expect(priority == .low)
    // Nobody waits for that task, which would make it as urgent as whoever does.
    var prefetching = Photo("c", url: "test:/c")
    prefetching.ownImage = { _ in
      let photo = Photo("d", url: "test:/d")
      Task(priority: .background) { try await cache.image(for: photo, format: .row) }
      await started.reaches(2)
      return .bitmap(try solid(3))
    }
    let chosen = prefetching
    let other = Task(priority: .high) { try await cache.image(for: chosen, format: .row) }
    #expect(try await other.value.solidNumber == 3)
    #expect(priority == .background)
    door.open()
    _ = try await low.value
  }

  @Test("falls when its more urgent subscriber has its image from elsewhere")
  func fallsWithAnswer() async throws {
    let fixture = try await fixture()
    let low = Task(priority: .low) {
      try await fixture.cache.image(for: Photo("b", url: "test:/1"), format: .row)
    }
    await started.reaches(1)
    let high = waiter(.high, in: fixture)
    await fixture.subscribers(2)
    #expect(priority == .high)
    try await fixture.cache.store(solid(2), for: photo, format: .row)
    #expect(priority == .low)
    #expect(try await high.value.solidNumber == 2)
    door.open()
    _ = try await low.value
  }

  @Test("is that of the last change, even if an earlier one is told later")
  func toldLate() async throws {
    let fixture = try await fixture()
    let (cache, other) = (fixture.cache, Photo("b", url: "test:/1"))
    // Two loads, since a removal lies between them; each has a subscriber of either priority.
    var tasks: [Task<CachedImage, any Error>] = []
    for count in 1...2 {
      tasks.append(waiter(.high, in: fixture))
      await started.reaches(count)
      tasks.append(Task(priority: .low) { try await cache.image(for: other, format: .row) })
      await fixture.subscribers(2 * count)
      if count == 1 { try await cache.removeImages(for: photo) }
    }
    let loads = asked.withLock { $0 }
    #expect(loads.map(\.priority) == [.high, .high])
    let joined = Lock<[AsyncStream<ImageProgress>]>([])
    // Told of the first load's fall, somebody joins the second, which has fallen in the same moment.
    _ = loads.first?.urgency.observe {
      let stream = cache.progress(for: Photo("c", url: "test:/1"), format: .row)
      joined.withLock { $0.append(stream) }
    }
    try await cache.store(solid(2), for: photo, format: .row)
    #expect(joined.withLock { $0.count } == 1)
    #expect(loads.first?.priority == .low)
    #expect(loads.last.map { $0.priority > .low } == true)
    door.open()
    for task in tasks { _ = try await task.value }
  }
}
