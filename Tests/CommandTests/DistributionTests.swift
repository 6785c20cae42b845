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

  @Test("takes the value above where a rank falls between two")
  func betweenRanks() {
    let distribution = Distribution((1...7).map(Double.init))
    #expect(distribution.median == 4)
    #expect(distribution.percentile(15) == 2)
    #expect(distribution.p99 == 7)
  }

  @Test("of one value is that value everywhere")
  func single() {
    let distribution = Distribution([7])
    #expect(distribution.median == 7)
    #expect(distribution.p99 == 7)
  }

  @Test("of nothing is zero")
  func empty() {
    #expect(Distribution([]).median == 0)
    #expect(Distribution([]).maximum == 0)
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
