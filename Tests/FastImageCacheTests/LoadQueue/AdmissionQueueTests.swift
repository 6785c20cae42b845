import Locking
import Testing

@testable import FastImageCache
@testable import LoadQueue

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
}
