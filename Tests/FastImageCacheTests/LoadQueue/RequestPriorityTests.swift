import Locking
import Synchronization
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
    Task(priority: task) { try await fixture.image(photo, .row, LoadOptions(priority: priority)) }
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
        try await fixture.image(Photo("b"), .row, LoadOptions(.reload, priority: level))
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
          try await fixture.image(inner, .row, LoadOptions(priority: level)).solidNumber ?? 0))
    }
    let entity = outer
    let asking = RequestPriority(.low)
    let waiting = Task { try await fixture.image(entity, .row, LoadOptions(priority: asking)) }
    await started.reaches(1)
    asking.value = .high
    #expect(priority == .low)
    level.value = .medium
    #expect(priority == .medium)
    door.open()
    #expect(try await waiting.value.solidNumber == 1)
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
    let task = Task(priority: .low) { try await fixture.image(photo) }
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
      try await fixture.image(photo, .row, LoadOptions(priority: level))
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
    let task = Task(priority: .low) { try await fixture.image(entity) }
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
      let inner = Task { try await fixture.image(Photo("b")).solidNumber ?? 0 }
      begun.withLock { $0 = inner }
      isBegun.increment()
      await started.reaches(1)
      try await door.pass()
      return .bitmap(try solid(7))
    }
    let (entity, level) = (outer, RequestPriority(.low))
    let waiting = Task { try await fixture.image(entity, .row, LoadOptions(priority: level)) }
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

@Suite("An urgency", .timeLimit(.minutes(10)))
struct UrgencyTests {
  @Test("tells those who observe at that moment, and nobody else", arguments: 1...4)
  func tellsObservers(seed: UInt64) {
    final class Told: Sendable {
      let count = Atomic(0)
    }
    var generator = SplitMix64(state: seed)
    let urgency = Urgency(.low)
    var observers: [(observation: Urgency.Observation, told: Told)] = []
    var former: [Told] = []
    for step in 0..<500 {
      if Int.random(in: 0..<5, using: &generator) < 3 || observers.isEmpty {
        let told = Told()
        observers.append((urgency.observe { told.count.add(1, ordering: .relaxed) }, told))
      } else {
        let left = observers.remove(at: Int.random(in: 0..<observers.count, using: &generator))
        urgency.endObservation(left.observation)
        former.append(left.told)
      }
      let before = (observers.map(\.told) + former).map { $0.count.load(ordering: .relaxed) }
      urgency.set(step % 2 == 0 ? .high : .low)?()
      let after = (observers.map(\.told) + former).map { $0.count.load(ordering: .relaxed) }
      let expected = before.enumerated().map { $0.element + ($0.offset < observers.count ? 1 : 0) }
      #expect(after == expected)
      if after != expected { return }
    }
    #expect(Set(observers.map(\.observation)).count == observers.count)
    // Places are given again: there are no more than there were observers at once.
    #expect(observers.allSatisfy { $0.observation < 400 })
    for observer in observers { urgency.endObservation(observer.observation) }
    #expect(urgency.set(.medium) != nil)
  }
}

@Suite("The priority of a load", .timeLimit(.minutes(10)))
struct PriorityTests: HeldLoadSuite {
  let started = Counter()
  let door = CancellableGate()
  let asked = Lock<[ImageSourceRequest]>([])

  private func waiter(
    _ priority: TaskPriority, in fixture: Fixture
  ) -> Task<CachedImage, any Error> {
    Task(priority: priority) { try await fixture.image(photo) }
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

/// Tests of one load, whose source waits at a door and shows the priority that it reads meanwhile.
protocol HeldLoadSuite: Sendable {
  var started: Counter { get }
  var door: CancellableGate { get }
  var asked: Lock<[ImageSourceRequest]> { get }
}

extension HeldLoadSuite {
  var photo: Photo { Photo("a", url: "test:/1") }

  /// What the source reads while it loads.
  var priority: TaskPriority? { asked.withLock { $0.last }?.priority }

  func fixture(_ formats: [ImageFormat] = [.row]) async throws -> Fixture {
    try await Fixture(formats) {
      $0.source = .closure { request in
        asked.withLock { $0.append(request) }
        started.increment()
        try await door.pass()
        return .bitmap(try solid(1))
      }
    }
  }
}
