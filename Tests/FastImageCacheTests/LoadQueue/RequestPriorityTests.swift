import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A priority that requests hold", .timeLimit(.minutes(10)))
struct RequestPriorityTests: HeldLoadSuite {
  let started = Counter()
  let door = CancellableGate()
  let asked = Lock<[ImageSourceRequest]>([])

  private func waiter(
    _ priority: RequestPriority?, in fixture: Fixture, task: TaskPriority = .medium
  ) -> Task<CachedImage, any Error> {
    Task(priority: task) {
      try await fixture.cache.image(
        for: photo, format: .row, options: LoadOptions(priority: priority))
    }
  }

  @Test("makes their load as urgent as it is, upwards and downwards, whatever their tasks are")
  func moves() async throws {
    let (fixture, level) = (try await fixture(), RequestPriority(.low))
    let waiting = waiter(level, in: fixture, task: .high)
    await started.reaches(1)
    #expect(priority == .low)
    for other in [TaskPriority.high, .background, .medium] {
      level.value = other
      #expect(priority == other && level.value == other)
    }
    door.open()
    _ = try await waiting.value
    level.value = .high
    #expect(priority == .medium)
  }

  @Test("counts beside those of others, of which the highest is the load's")
  func countsBesideOthers() async throws {
    let fixture = try await fixture()
    let (first, second) = (RequestPriority(.high), RequestPriority(.medium))
    var tasks: [Task<CachedImage, any Error>] = []
    for level in [first, second, first, nil] {
      tasks.append(waiter(level, in: fixture, task: .low))
      await fixture.subscribers(tasks.count)
    }
    await started.reaches(1)
    #expect(priority == .high)
    first.value = .background
    #expect(priority == .medium)
    second.value = .background
    #expect(priority == .low)
    first.value = .high
    tasks[0].cancel()
    #expect(priority == .high)
    tasks[2].cancel()
    #expect(priority == .low)
    door.open()
    _ = try await tasks[1].value
  }

  @Test("is one for requests to several caches, and for streams")
  func spansCaches() async throws {
    let fixtures = [try await fixture(), try await fixture()]
    let level = RequestPriority(.low)
    let streams = fixtures.map {
      $0.cache.progress(for: photo, format: .row, options: LoadOptions(priority: level))
    }
    await started.reaches(2)
    let requests = asked.withLock { $0 }
    #expect(requests.map(\.priority) == [.low, .low])
    level.value = .high
    #expect(requests.map(\.priority) == [.high, .high])
    level.value = .background
    #expect(requests.map(\.priority) == [.background, .background])
    door.open()
    for stream in streams { for await _ in stream {} }
  }

  @Test("keeps no cache whose requests are over")
  func keepsNothing() async throws {
    let level = RequestPriority(.low)
    let left = try await { () async throws -> () -> InFlightRegistry? in
      let fixture = try await fixture()
      let answered = waiter(level, in: fixture)
      await started.reaches(1)
      door.open()
      _ = try await answered.value
      let cancelled = Task {
        try await fixture.cache.image(
          for: Photo("b"), format: .row, options: LoadOptions(.reload, priority: level))
      }
      cancelled.cancel()
      _ = await cancelled.result
      await fixture.quiet()
      await fixture.cache.close()
      _ = await waiter(level, in: fixture).result
      weak let registry = fixture.cache.registry
      return { registry }
    }()
    // A thread that answered may hold it for a moment.
    for _ in 0..<10_000 where left() != nil { await Task.yield() }
    #expect(left() == nil)
    level.value = .high
    #expect(level.value == .high)
  }

  @Test("of a nested request counts more than the load that asked, also where the levels are equal")
  func nested() async throws {
    let (fixture, level) = (try await fixture(), RequestPriority(.low))
    var outer = photo
    outer.ownImage = { _ in
      let inner = Photo("b", url: "test:/b")
      return .bitmap(
        try solid(
          try await fixture.cache.image(
            for: inner, format: .row, options: LoadOptions(priority: level)
          ).solidNumber ?? 0))
    }
    let entity = outer
    let asking = RequestPriority(.low)
    let waiting = Task {
      try await fixture.cache.image(
        for: entity, format: .row, options: LoadOptions(priority: asking))
    }
    await started.reaches(1)
    asking.value = .high
    #expect(priority == .low)
    level.value = .medium
    #expect(priority == .medium)
    door.open()
    #expect(try await waiting.value.solidNumber == 1)
  }

  @Test("is nobody's where an original is revalidated behind them")
  func notBehind() async throws {
    let fixture = try await fixture()
    let options = LoadOptions(account: AccountID("a"), priority: RequestPriority(.high))
    let request = try fixture.cache.request(for: photo, format: .row, options: options)
    let behind = try #require(request.revalidating(keeping: .all).options)
    #expect(behind.priority == nil && behind.account == AccountID("a"))
  }
}

@Suite("A task that is escalated while it waits", .timeLimit(.minutes(10)))
struct EscalationTests: HeldLoadSuite {
  let started = Counter()
  let door = CancellableGate()
  let asked = Lock<[ImageSourceRequest]>([])

  @Test("makes its load as urgent, before the escalation is over")
  func raises() async throws {
    let fixture = try await fixture()
    let task = Task(priority: .low) { try await fixture.cache.image(for: photo, format: .row) }
    await started.reaches(1)
    #expect(priority == .low)
    task.escalatePriority(to: .medium)
    #expect(priority == .medium)
    let awaiting = Task(priority: .high) { try await task.value }
    while priority != .high, !Task.isCancelled { await Task.yield() }
    task.cancel()
    _ = await awaiting.result
  }

  @Test("leaves the load alone that a priority of its own was chosen for")
  func leavesChosen() async throws {
    let fixture = try await fixture()
    let level = RequestPriority(.low)
    let holding = Task(priority: .low) {
      try await fixture.cache.image(
        for: photo, format: .row, options: LoadOptions(priority: level))
    }
    await started.reaches(1)
    holding.escalatePriority(to: .high)
    #expect(priority == .low)
    let prefetch = Task(priority: .low) {
      await fixture.cache.prefetch([Photo("b")], format: .row)
    }
    await started.reaches(2)
    prefetch.escalatePriority(to: .high)
    #expect(priority == .low)
    door.open()
    _ = try await holding.value
    #expect(await prefetch.value.loadedCount == 1)
  }

  @Test("is as urgent where that happens between its question and its wait")
  func raisesEarly() async throws {
    let fixture = try await fixture([.row, .large])
    var early = photo
    early.willTellSource = { format in
      // The versions in other formats are asked for when the request is about to join.
      if format == .large {
        withUnsafeCurrentTask { $0?.escalatePriority(to: .high) }
      }
    }
    let entity = early
    let task = Task(priority: .low) { try await fixture.cache.image(for: entity, format: .row) }
    await started.reaches(1)
    // The request may still be about to look whether its task was escalated.
    while priority != .high, !Task.isCancelled { await Task.yield() }
    #expect(priority == .high)
    door.open()
    _ = try await task.value
  }

  @Test("stays as urgent where the load that it works for becomes less so")
  func staysAboveAsking() async throws {
    let fixture = try await fixture()
    let (begun, isBegun) = (Lock<Task<Int, any Error>?>(nil), Counter())
    var outer = photo
    outer.ownImage = { _ in
      // A task that others share.
      let inner = Task {
        try await fixture.cache.image(for: Photo("b"), format: .row).solidNumber ?? 0
      }
      begun.withLock { $0 = inner }
      isBegun.increment()
      await started.reaches(1)
      try await door.pass()
      return .bitmap(try solid(7))
    }
    let (entity, level) = (outer, RequestPriority(.low))
    let waiting = Task {
      try await fixture.cache.image(
        for: entity, format: .row, options: LoadOptions(priority: level))
    }
    await isBegun.reaches(1)
    await started.reaches(1)
    level.value = .background
    #expect(priority == .background)
    begun.withLock { $0 }?.escalatePriority(to: .medium)
    #expect(priority == .medium)
    level.value = .high
    #expect(priority == .high)
    level.value = .low
    #expect(priority == .medium)
    door.open()
    #expect(try await waiting.value.solidNumber == 7)
  }
}
