import Testing

@testable import FastImageCache

extension Crowding {
  /// Of cores that are shared at all times.
  static var always: Crowding { Crowding(until: .now.advanced(by: .seconds(1_000_000))) }
}

@Suite("A level of work")
struct WorkLevelTests {
  private let start = ContinuousClock.now

  @Test("is lower for jobs that no caller waits for, whether or not cores are shared")
  func priorities() {
    for crowding in [Crowding(), .always] {
      #expect(crowding.level(for: .low, at: start) == .behind)
      #expect(crowding.level(for: .background, at: start) == .behind)
    }
    #expect(Crowding.always.level(for: .medium, at: start) == .beside)
    #expect(Crowding.always.level(for: .high, at: start) == .beside)
    #expect(Crowding().level(for: .medium, at: start) == .normal)
  }

  private func share(
    _ processorTime: Int, of elapsed: Int, preempted count: Int = 3
  ) -> Crowding.Share {
    Crowding.Share(
      processorTime: .microseconds(processorTime), elapsed: .microseconds(elapsed),
      preemptionCount: count)
  }

  @Test("is lower for a second after a job had to share its core")
  func shared() {
    var crowding = Crowding()
    crowding.computed(share(7000, of: 9000), at: start)
    #expect(crowding.level(for: .high, at: start) == .beside)
    #expect(crowding.level(for: .high, at: start + .milliseconds(999)) == .beside)
    #expect(crowding.level(for: .high, at: start + .seconds(1)) == .normal)
    // A job that began earlier and ends later takes nothing back, nor does one that shared nothing.
    crowding.computed(share(0, of: 1_000_000), at: start - .milliseconds(500))
    crowding.computed(share(7000, of: 7000), at: start + .milliseconds(100))
    #expect(crowding.level(for: .high, at: start + .milliseconds(999)) == .beside)
  }

  @Test(
    "is not lower for what interrupts take",
    arguments: [(1000, 1190), (7000, 7900), (0, 200), (5, 3)])
  func interrupts(processorTime: Int, elapsed: Int) {
    var crowding = Crowding()
    crowding.computed(share(processorTime, of: elapsed), at: start)
    #expect(crowding.level(for: .high, at: start) == .normal)
  }

  @Test("is not lower for a job that waited for a file, and lost its core to nobody")
  func waits() {
    var crowding = Crowding()
    crowding.computed(share(7000, of: 90_000, preempted: 0), at: start)
    #expect(crowding.level(for: .high, at: start) == .normal)
    crowding.computed(share(7000, of: 90_000, preempted: 1), at: start)
    #expect(crowding.level(for: .high, at: start) == .beside)
  }

  @Test("is nicer, the less it matters")
  func order() {
    let nicenesses = WorkLevel.allCases.map(\.niceness)
    #expect(nicenesses == nicenesses.sorted() && Set(nicenesses).count == nicenesses.count)
    #expect(WorkLevel.normal.niceness == 0)
  }
}
