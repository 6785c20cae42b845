import Foundation
import TestSupport
import Testing

@testable import FastImageCache

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
    let (first, second) = (permit(), permit())
    try await first.acquire(.local)
    let waiting = Task { try await second.acquire(.local) }
    await waits(at: .local)
    second.giveUp()
    first.giveUp()
    try await waiting.value
    #expect(inside() == [])
  }

  @Test("is refused to a load that ended while it waited")
  func endsWhileWaiting() async throws {
    let (first, second) = (permit(), permit())
    try await first.acquire(.local)
    let waiting = Task { try await second.acquire(.local) }
    await waits(at: .local)
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
    let (first, second) = (permit(), permit())
    try await first.acquire(.local)
    let waiting = Task { try await second.acquire(.local) }
    await waits(at: .local)
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

  @Test("is granted at once where it is held already")
  func samePermit() async throws {
    let permit = permit()
    try await permit.acquire(.local)
    // The gate is one wide: a second permit would never come.
    try await permit.acquire(.local)
    #expect(resources[.local].counts.inside == 1)
  }

  @Test("is refused to a load that is over")
  func refusedAtTheEnd() async throws {
    let permit = permit()
    permit.close()
    await #expect(throws: CancellationError.self) { try await permit.acquire(.local) }
    #expect(inside() == [])
  }
}
