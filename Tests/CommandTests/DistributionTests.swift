import CommandSupport
import Testing

@Suite("A distribution", .timeLimit(.minutes(10)))
struct DistributionTests {
  @Test("has percentiles by nearest rank, for any order of its values")
  func percentiles() {
    let values = (1...200).map(Double.init).shuffled()
    let distribution = Distribution(values)
    #expect(distribution.median == 100)
    #expect(distribution.p99 == 198)
    #expect(distribution.percentile(0) == 1)
    #expect(distribution.percentile(100) == 200)
    #expect(distribution.maximum == 200)
  }

  @Test("counts values above a limit, not at it")
  func counting() {
    #expect(Distribution([8.2, 8.3, 8.4, 20]).count(above: 8.3) == 2)
  }

  @Test("is made of the medians of several runs, place by place")
  func medians() {
    #expect(Distribution.medians(ofRuns: [[1, 9, 5], [2, 1, 5], [90, 2]]) == [2, 2])
    #expect(Distribution.medians(ofRuns: []) == [])
  }
}
