import FastImageCache
import Foundation
import Locking
import TestSupport
import Testing

@Suite("The priority of a load", .timeLimit(.minutes(5)))
struct PriorityTests {
  private let started = Counter()
  private let door = CancellableGate()
  private let asked = Lock<ImageSourceRequest?>(nil)
  private let photo = Photo("a", url: "test:/1")

  private func fixture() async throws -> Fixture {
    try await Fixture {
      $0.source = .closure { request, _ in
        asked.withLock { $0 = request }
        started.increment()
        try await door.pass()
        return .bitmap(try solid(1))
      }
    }
  }

  /// What the source reads while it loads.
  private var priority: TaskPriority? { asked.withLock { $0 }?.priority }

  private func waiter(
    _ priority: TaskPriority, in fixture: Fixture
  ) -> Task<CachedImage, any Error> {
    Task(priority: priority) { try await fixture.cache.image(for: photo, format: .row) }
  }

  @Test("rises with each more urgent waiter, and falls when that one is cancelled")
  func risesAndFalls() async throws {
    let fixture = try await fixture()
    let low = waiter(.low, in: fixture)
    await started.reaches(1)
    #expect(priority == .low)
    let medium = waiter(.medium, in: fixture)
    await fixture.waiters(2)
    #expect(priority == .medium)
    let high = waiter(.high, in: fixture)
    await fixture.waiters(3)
    #expect(priority == .high)
    // Before `cancel()` returns.
    high.cancel()
    #expect(priority == .medium)
    medium.cancel()
    #expect(priority == .low)
    door.open()
    _ = try await low.value
  }

  @Test("falls when its more urgent waiter has its picture from elsewhere")
  func fallsWithAnswer() async throws {
    let fixture = try await fixture()
    let low = Task(priority: .low) {
      try await fixture.cache.image(for: Photo("b", url: "test:/1"), format: .row)
    }
    await started.reaches(1)
    let high = waiter(.high, in: fixture)
    await fixture.waiters(2)
    #expect(priority == .high)
    try await fixture.cache.store(solid(2), for: photo, format: .row)
    #expect(priority == .low)
    #expect(try await high.value.solidNumber == 2)
    door.open()
    _ = try await low.value
  }

  @Test("is that of whoever stays, in whatever order others come and leave")
  func storm() async throws {
    let fixture = try await fixture()
    let low = waiter(.low, in: fixture)
    await started.reaches(1)
    for _ in 0..<200 {
      await withTaskGroup(of: Void.self) { group in
        for priority in [TaskPriority.medium, .high, .medium, .high] {
          group.addTask {
            let task = waiter(priority, in: fixture)
            for _ in 0..<Int.random(in: 0..<8) { await Task.yield() }
            task.cancel()
            _ = await task.result
          }
        }
      }
      guard priority == .low else {
        Issue.record("It stayed at \(String(describing: priority)).")
        break
      }
    }
    door.open()
    _ = try await low.value
  }
}
