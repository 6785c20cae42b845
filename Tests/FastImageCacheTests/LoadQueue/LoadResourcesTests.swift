import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Resources of several caches", .timeLimit(.minutes(10)))
struct LoadResourcesTests {
  private let resources = LoadResources(
    decodeWidth: 2, decodeByteBudget: 1500, networkWidth: 1, localWidth: 1)
  private let door = CancellableGate()

  private func fixture(_ source: ScriptedSource = ScriptedSource()) async throws -> Fixture {
    try await Fixture(source: source) { $0.resources = resources }
  }

  /// A source whose image 1 waits at the door.
  private func holding(_ order: Order = Order()) -> ScriptedSource {
    ScriptedSource { [door] url, _, _ in
      order.note(url.lastPathComponent)
      if url.lastPathComponent == "1" { try await door.pass() }
      return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
    }
  }

  private func load(
    _ number: Int, from fixture: Fixture, _ scheme: String = "test:",
    _ priority: TaskPriority? = nil
  ) -> Task<Int?, any Error> {
    Task(priority: priority) {
      let photo = Photo(ImageID(number), url: "\(scheme)/\(number)")
      return try await fixture.image(photo).solidNumber
    }
  }

  private func waits(_ count: Int, at need: LoadNeed = .local) async {
    while resources[need].counts.waiting != count, !Task.isCancelled { await Task.yield() }
  }

  /// Waits until no load has a place; one that was lost would keep the suite until its time is over.
  private func areFree() async {
    for need in [LoadNeed.local, .network] {
      await waits(0, at: need)
      while resources[need].counts.inside != 0, !Task.isCancelled { await Task.yield() }
    }
  }

  @Test(
    "let the most urgent load of all in, when one of either has left",
    arguments: [("test:", LoadNeed.local), ("http://a.example", .network)])
  func priorities(_ scheme: String, _ need: LoadNeed) async throws {
    let order = Order()
    let (first, second) = (try await fixture(holding(order)), try await fixture(holding(order)))
    let held = load(1, from: first, scheme)
    while order.notes.isEmpty { await Task.yield() }
    var waiting: [Task<Int?, any Error>] = []
    let plans: [(Fixture, TaskPriority)] = [(second, .low), (first, .medium), (second, .high)]
    for (fixture, priority) in plans {
      waiting.append(load(waiting.count + 2, from: fixture, scheme, priority))
      await waits(waiting.count, at: need)
    }
    #expect(resources[need].counts.inside == 1)
    door.open()
    // Awaited afterwards, since a task that is awaited rises to the priority of the test.
    while order.notes.count < 4, !Task.isCancelled { await Task.yield() }
    #expect(order.notes == ["1", "4", "3", "2"])
    for (index, task) in ([held] + waiting).enumerated() {
      #expect(try await task.value == index + 1)
    }
    await areFree()
  }

  @Test("forget a load that is cancelled while it waits for one of the other cache")
  func cancels() async throws {
    let (first, second) = (try await fixture(holding()), try await fixture())
    let held = load(1, from: first)
    await first.source.started.reaches(1)
    let (left, stays) = (load(2, from: second), load(3, from: second))
    await waits(2)
    left.cancel()
    await waits(1)
    door.open()
    #expect(try await [held.value, stays.value] == [1, 3])
    await #expect(throws: ImageCacheError.self) { try await left.value }
    #expect(second.source.started.value == 1)
    await areFree()
  }

  @Test("come back from a cache that is closed, to the other one that waits for them")
  func closes() async throws {
    let (first, second) = (try await fixture(holding()), try await fixture())
    let held = load(1, from: first)
    await first.source.started.reaches(1)
    let (queued, waiting) = (load(2, from: first), load(3, from: second))
    await waits(2)
    await first.cache.close()
    #expect(try await waiting.value == 3)
    for task in [held, queued] {
      await #expect(throws: ImageCacheError.self) { try await task.value }
    }
    #expect(first.source.started.value == 1)
    await areFree()
    #expect(try await load(4, from: second).value == 4)
  }

  @Test("suffice for caches that ask each other, however narrow the gates are")
  func askEachOther() async throws {
    let caches = Lock<[Fixture]>([])
    let source = ScriptedSource { url, _, _ in
      let number = Int(url.lastPathComponent) ?? 0
      guard number < 9 else { return .bitmap(try solid(number)) }
      let next = Photo(ImageID(number + 1), url: "test:/\(number + 1)")
      let other = caches.withLock { $0[number % 2] }.cache
      let answer = try await other.image(for: next, format: .row).solidNumber ?? 0
      return .bitmap(try solid(answer + 1))
    }
    let both = [try await fixture(source), try await fixture(source)]
    caches.withLock { $0 = both }
    #expect(try await load(1, from: both[0]).value == 17)
    caches.withLock { $0 = [] }
    await areFree()
  }

  @Test("suffice where a load joins the other cache's one, which needs the place of the first")
  func joinsLate() async throws {
    let caches = Lock<[Fixture]>([])
    let source = ScriptedSource { [door] url, _, _ in
      let number = Int(url.lastPathComponent) ?? 0
      // 1 of the first cache asks the second for 2, which asks the first for 3.
      guard number < 3 else { return .bitmap(try solid(number)) }
      if number == 2 { try await door.pass() }
      let next = Photo(ImageID(number + 1), url: "test:/\(number + 1)")
      let other = caches.withLock { $0[number % 2] }.cache
      return .bitmap(try solid(try await other.image(for: next, format: .row).solidNumber ?? 0))
    }
    // Each with gates of its own.
    let both = [
      try await Fixture(source: source) { $0.resources = LoadResources(localWidth: 1) },
      try await Fixture(source: source) { $0.resources = LoadResources(localWidth: 1) },
    ]
    caches.withLock { $0 = both }
    let begun = load(2, from: both[1])
    await both[1].source.started.reaches(1)
    let joined = load(1, from: both[0])
    await both[1].subscribers(2)
    door.open()
    #expect(try await [begun.value, joined.value] == [3, 3])
    caches.withLock { $0 = [] }
  }

  @Test("let no more in than they are wide, whatever the caches do", arguments: [false, true])
  func mixed(arePlain: Bool) async throws {
    let resources = LoadResources(localWidth: 3)
    let (peak, tasks) = (Peak(), Lock<[Task<Int?, any Error>]>([]))
    var random = SplitMix64(state: 14)
    func open() async throws -> Fixture {
      try await Fixture(
        source: ScriptedSource { url, call, _ in
          peak.enter()
          defer { peak.leave() }
          for _ in 0..<call % 5 { await Task.yield() }
          try Task.checkCancellation()
          return .bitmap(try solid(Int(url.lastPathComponent) ?? 0))
        }
      ) { $0.resources = resources }
    }
    let (lasting, first) = (try await open(), try await open())
    var closing = first
    for number in 1...300 {
      let fixture = random.next() % 2 == 0 ? lasting : closing
      let task =
        arePlain
        ? Task {
          try await fixture.image(PlainPhoto(number: number)).solidNumber
        } : load(number, from: fixture)
      tasks.withLock { $0.append(task) }
      if random.next() % 3 == 0 {
        tasks.withLock { $0[Int(random.next() % UInt64($0.count))].cancel() }
      }
      if random.next() % 40 == 0 {
        await closing.cache.close()
        closing = try await open()
      }
    }
    for (index, task) in tasks.withLock({ $0 }).enumerated() {
      guard case .success(let number) = await task.result else { continue }
      #expect(number == index + 1)
    }
    await lasting.quiet()
    await closing.quiet()
    while resources[.local].counts != (0, 0), !Task.isCancelled { await Task.yield() }
    #expect(peak.value <= 3 && peak.value > 0)
  }

  @Test("are each cache's own where it is given none")
  func ownByDefault() async throws {
    let configuration = ImageCache.Configuration()
    let first = try ImageCache.inMemory(formats: [.row], configuration: configuration)
    let second = try ImageCache.inMemory(formats: [.row], configuration: configuration)
    #expect(first.renderer.workers !== second.renderer.workers)
    #expect(try await fixture().cache.renderer.workers === resources.workers)
  }
}

@Suite("A load's permit", .timeLimit(.minutes(10)))
struct LoadPermitTests {
  private let resources = LoadResources(networkWidth: 1, localWidth: 1)

  private func permit(_ priority: Priority = .medium) -> LoadPermit {
    LoadPermit(resources, urgency: Urgency(priority))
  }

  private func inside() -> [LoadNeed] {
    [LoadNeed.local, .network].filter { resources[$0].counts.inside > 0 }
  }

  private func waits(at need: LoadNeed, _ count: Int = 1) async {
    while resources[need].counts.waiting != count { await Task.yield() }
  }

  /// Two permits, of which the first has the local gate, and the second waits there.
  private func waiting() async throws -> (LoadPermit, LoadPermit, Task<Void, any Error>) {
    let (first, second) = (permit(), permit())
    try await first.acquire(.local)
    let waiting = Task { try await second.acquire(.local) }
    await waits(at: .local)
    return (first, second, waiting)
  }

  @Test("is given back before the load waits at another gate")
  func givesBackFirst() async throws {
    let (first, second) = (permit(), permit())
    try await first.acquire(.local)
    try await second.acquire(.network)
    // Each wants what the other one has.
    let crossing = Task { try await first.acquire(.network) }
    await waits(at: .network)
    try await second.acquire(.local)
    try await crossing.value
    #expect(inside() == [.local, .network])
  }

  @Test("is not kept by a load that gave it up while it waited")
  func givesUpWhileWaiting() async throws {
    let (first, second, waiting) = try await waiting()
    second.giveUp()
    first.giveUp()
    try await waiting.value
    #expect(inside() == [])
  }

  @Test("is refused to a load that ended while it waited")
  func endsWhileWaiting() async throws {
    let (first, second, waiting) = try await waiting()
    second.close()
    first.giveUp()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(inside() == [])
  }

  @Test("goes along with a request that is sent on to another place")
  func goesAlong() async throws {
    let (permit, urgency) = (permit(), Urgency(.low))
    var request = ImageSourceRequest(
      url: try #require(URL(string: "a:/1")), urgency: urgency, byteCountLimit: 7,
      permit: ReachingPermit(permit: permit, scope: .network))
    request.avoids = .expensive
    let other = request.with(url: try #require(URL(string: "b:/2")))
    #expect(other.url.scheme == "b" && other.byteCountLimit == 7 && other.avoids == .expensive)
    try await other.acquirePermit(.network)
    #expect(inside() == [.network])
    urgency.set(.high)?()
    #expect(other.priority == .high)
    permit.close()
    #expect(inside() == [])
  }

  @Test("of two calls is the later one's")
  func laterCallDecides() async throws {
    let (first, second, waiting) = try await waiting()
    try await second.acquire(.network)
    first.close()
    try await waiting.value
    #expect(inside() == [.network])
  }

  @Test("is not waited for by a task that is cancelled")
  func cancelled() async throws {
    let (first, second) = (permit(), permit())
    try await first.acquire(.local)
    try await second.acquire(.network)
    let waiting = Task { try await second.acquire(.local) }
    await waits(at: .local)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(resources[.local].counts.waiting == 0)
    #expect(inside() == [.local])
  }

  @Test("comes in the order of the last changes, however late their observers are called")
  func lateObservers() async throws {
    let (first, order) = (permit(), Order())
    try await first.acquire(.local)
    let urgencies = ["moves": Urgency(.high), "stays": Urgency(.medium)]
    let tasks = urgencies.map { name, urgency in
      Task {
        let permit = LoadPermit(resources, urgency: urgency)
        try await permit.acquire(.local)
        order.note(name)
        permit.close()
      }
    }
    await waits(at: .local, 2)
    let fall = urgencies["moves"]?.set(.low)
    let rise = urgencies["moves"]?.set(.high)
    let last = urgencies["moves"]?.set(.background)
    for tell in [last, fall, rise] { tell?() }
    first.close()
    for task in tasks { try await task.value }
    #expect(order.notes == ["stays", "moves"])
  }

  @Test("is granted at once where it is held already, and refused to a load that is over")
  func samePermit() async throws {
    let permit = permit()
    try await permit.acquire(.local)
    // The gate is one wide: a second permit would never come.
    try await permit.acquire(.local)
    #expect(resources[.local].counts.inside == 1)
    permit.close()
    await #expect(throws: CancellationError.self) { try await permit.acquire(.local) }
    #expect(inside() == [])
  }
}
