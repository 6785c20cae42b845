import TestSupport
import Testing

@testable import FastImageCache
@testable import LoadQueue

@Suite("A place that is kept from jobs of low priority", .timeLimit(.minutes(10)))
struct KeptPlaceTests {
  @Test("is not for an idle job either, which is of low priority")
  func idleJob() throws {
    var admission = Admission(width: 2, byteBudget: 0, reservesPlace: true)
    let (low, urgent) = (admission.makeJobID(), admission.makeJobID())
    #expect(try admission.submit(low, priority: .low, byteCount: 0) == [low])
    #expect(admission.startIdleJob(byteCount: 0) == nil)
    #expect(admission.finish(low) == [])
    let started = admission.startIdleJob(byteCount: 0)
    let idleJob = try #require(started)
    #expect(try admission.submit(urgent, priority: .high, byteCount: 0) == [urgent])
    #expect(admission.finish(idleJob) == [])
  }

  @Test("is kept at a gate at all times")
  func gate() async throws {
    let gate = LoadResources(localWidth: 2)[.local]
    let first = try await gate.enter(Urgency(.low))
    let low = begun { try await gate.enter(Urgency(.background)) }
    #expect(gate.counts == (1, 1))
    let row = try await gate.enter(Urgency(.medium))
    gate.finish(row)
    #expect(gate.counts == (1, 1))
    gate.finish(first)
    gate.finish(try await low.value)
    #expect(gate.counts == (0, 0))
  }
}
