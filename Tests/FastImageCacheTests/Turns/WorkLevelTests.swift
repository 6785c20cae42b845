import Testing

@testable import FastImageCache

@Suite("A level of work")
struct WorkLevelTests {
  @Test("is that of callers who wait from medium priority on, and lower for all others")
  func priorities() {
    #expect(WorkLevel(computingAt: Priority(.userInitiated)) == .beside)
    #expect(WorkLevel(computingAt: .medium) == .beside)
    #expect(WorkLevel(computingAt: .low) == .behind)
    #expect(WorkLevel(computingAt: .background) == .behind)
  }

  @Test("is nicer, the less it matters")
  func order() {
    let nicenesses = WorkLevel.allCases.map(\.niceness)
    #expect(nicenesses == nicenesses.sorted() && Set(nicenesses).count == nicenesses.count)
    #expect(WorkLevel.normal.niceness == 0)
  }
}
