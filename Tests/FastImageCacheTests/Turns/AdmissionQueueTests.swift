import Locking
import Testing

@testable import FastImageCache

@Suite("An admission queue", .timeLimit(.minutes(10)))
struct AdmissionQueueTests {
  @Test("is not kept by the urgency of a job that was answered")
  func endsObservation() async {
    let urgency = Urgency(.medium)
    let observed = await { () async -> () -> AdmissionQueue? in
      let queue = AdmissionQueue(width: 1, byteBudget: 0)
      let answer: AdmissionQueue.Answer = await queue.enter(urgency) { continuation, _ in
        { continuation.resume(returning: $0) }
      }
      if case .admitted(let id, _) = answer { queue.finish(id) }
      weak let left = queue
      return { left }
    }()
    #expect(observed() == nil)
    #expect(urgency.priority == .medium)
  }

  @Test(
    "is not kept by the urgency of a load that waited without a task", arguments: [false, true])
  func endsQueuing(isWithdrawn: Bool) {
    let urgency = Urgency(.medium)
    let observed = { () -> () -> AdmissionQueue? in
      let gates = LoadGates(network: 1, local: 1)
      let (first, second) = (
        LoadPermit(gates: gates, urgency: urgency), LoadPermit(gates: gates, urgency: urgency)
      )
      let answer = first.queue(at: .local) { _ in }
      #expect(answer.map(first.endQueuing) == true)
      let later = second.queue(at: .local) { #expect(second.endQueuing($0) != isWithdrawn) }
      #expect(later == nil)
      if isWithdrawn { second.withdraw() }
      first.close()
      second.close()
      weak let left = gates[.local].queue
      return { left }
    }()
    #expect(observed() == nil)
    #expect(urgency.priority == .medium)
  }

  @Test("tells a job the priority that let it in, though its urgency falls before it is told")
  func tellsPriority() throws {
    let queue = AdmissionQueue(width: 2, byteBudget: 2)
    let (falling, told) = (Urgency(.medium), Lock<[Priority]>([]))
    let note: AdmissionQueue.Reply = { answer in
      if case .admitted(_, let priority) = answer { told.withLock { $0.append(priority) } }
    }
    let (occupying, first, second) = (
      queue.makePlace(Urgency(.high)), queue.makePlace(Urgency(.high)), queue.makePlace(falling)
    )
    let answer = occupying.enter(byteCount: 2, reply: note)
    guard case .admitted(let id, .high)? = answer else {
      Issue.record("The first job was not let in at once.")
      return
    }
    // Both wait, and one event lets both in.
    #expect(
      first.enter(byteCount: 1) {
        note($0)
        falling.set(.low)?()
      } == nil)
    #expect(second.enter(byteCount: 1, reply: note) == nil)
    queue.finish(id)
    #expect(told.withLock { $0 } == [.high, .medium] && falling.priority == .low)
  }

  @Test("lets nobody in who was withdrawn before coming")
  func withdrawnBefore() {
    let gates = LoadGates(network: 1, local: 1)
    let (first, second) = (
      LoadPermit(gates: gates, urgency: Urgency(.medium)),
      LoadPermit(gates: gates, urgency: Urgency(.medium))
    )
    second.withdraw()
    #expect(second.queue(at: .local) { _ in }.map(second.endQueuing) == false)
    #expect(gates[.local].counts == (0, 0))
    #expect(first.queue(at: .local) { _ in }.map(first.endQueuing) == true)
    first.close()
  }
}
