import TestSupport
import Testing

@testable import FastImageCache

@Suite("A place that is kept from jobs of low priority", .timeLimit(.minutes(10)))
struct KeptPlaceTests {
  @Test("is one of several, and none where there is only one")
  func count() throws {
    for (width, limit) in [(1, 1), (2, 1), (5, 4)] {
      var admission = Admission(width: width, byteBudget: 0)
      admission.keepsPlace = true
      var low: [Admission.JobID] = []
      for _ in 0...width {
        let id = admission.makeJobID()
        low += try admission.submit(id, priority: .low, byteCount: 0)
      }
      #expect(low.count == limit)
    }
  }

  @Test("is for a job that comes later, and is kept again after it")
  func later() throws {
    var admission = Admission(width: 2, byteBudget: 0)
    admission.keepsPlace = true
    let ids = (0..<4).map { _ in admission.makeJobID() }
    #expect(try admission.submit(ids[0], priority: .low, byteCount: 0) == [ids[0]])
    #expect(try admission.submit(ids[1], priority: .background, byteCount: 0) == [])
    #expect(try admission.submit(ids[2], priority: .medium, byteCount: 0) == [ids[2]])
    #expect(admission.finish(ids[2]) == [])
    // No place is free of others then, so a job that became urgent has its turn.
    #expect(admission.move(ids[1], to: .high) == [ids[1]])
    #expect(try admission.submit(ids[3], priority: .low, byteCount: 0) == [])
    #expect(admission.finish(ids[0]) == [ids[3]])
  }

  @Test("is not for a guest either, which is of low priority")
  func guest() throws {
    var admission = Admission(width: 2, byteBudget: 0)
    admission.keepsPlace = true
    let (low, urgent) = (admission.makeJobID(), admission.makeJobID())
    #expect(try admission.submit(low, priority: .low, byteCount: 0) == [low])
    #expect(admission.startGuest(byteCount: 0) == nil)
    #expect(admission.finish(low) == [])
    let started = admission.startGuest(byteCount: 0)
    let guest = try #require(started)
    #expect(try admission.submit(urgent, priority: .high, byteCount: 0) == [urgent])
    #expect(admission.finish(guest) == [])
  }

  @Test("is left to them again when a job ends and none has to be kept any more")
  func ends() throws {
    var admission = Admission(width: 2, byteBudget: 0)
    admission.keepsPlace = true
    let ids = (0..<3).map { _ in admission.makeJobID() }
    for id in ids { _ = try admission.submit(id, priority: .low, byteCount: 0) }
    admission.keepsPlace = false
    #expect(admission.finish(ids[0]) == [ids[1], ids[2]])
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
