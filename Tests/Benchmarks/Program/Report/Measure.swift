import CommandSupport

/// One line of a run's report: the figures of the cache and of a reference in the same run, and the bar.
struct Measure: Codable, Sendable {
  /// The statistic of many turns that is compared.
  enum Statistic { case median, p99 }

  /// `P1` to `P18`, `F1`, `F2`, `Q1`, `Q2`, `S2` to `S14`, or the name of another scenario.
  let id: String
  /// The operation that was timed.
  let what: String
  let unit: String
  let ours: Double
  let oursP99: Double
  /// `nil` where this run could not measure it.
  let reference: Double?
  let referenceP99: Double?
  let referenceName: String
  /// Ours by the reference.
  let ratio: Double?
  /// `nil` for a line that is there to be read beside others.
  let bar: Bar?
  /// Whether ours is a count, which has to keep its bar on every machine.
  let isCount: Bool
  let counts: [String: Int]

  init(
    _ id: String, _ what: String, unit: String = "ns", ours: Distribution,
    reference: Distribution? = nil, named referenceName: String = "none", bar: Bar? = nil,
    statistic: Statistic = .median, isCount: Bool = false,
    counts: [(name: String, value: Int)] = []
  ) {
    func value(_ distribution: Distribution) -> Double {
      statistic == .median ? distribution.median : distribution.p99
    }
    (self.id, self.what, self.unit) = (id, what, unit)
    let (own, other) = (value(ours), reference.map(value))
    (self.ours, self.reference) = (own, other)
    (oursP99, referenceP99) = (ours.p99, reference?.p99)
    self.referenceName = referenceName
    ratio = other.flatMap { own > 0 && $0 > 0 ? own / $0 : nil }
    self.bar = bar
    self.isCount = isCount
    self.counts = Dictionary(counts.map { ($0.name, $0.value) }) { $1 }
  }

  /// A line for a count, which does not depend on time.
  static func counted(_ id: String, _ what: String, _ count: Int, mustBe limit: Int) -> Measure {
    Measure(
      id, what, unit: "times", ours: Distribution([Double(count)]), bar: .oursIs(Double(limit)),
      isCount: true)
  }

  /// The same for a count that may be smaller.
  static func counted(
    _ id: String, _ what: String, unit: String = "times", _ count: Int, atMost limit: Int,
    counts: [(name: String, value: Int)] = []
  ) -> Measure {
    Measure(
      id, what, unit: unit, ours: Distribution([Double(count)]), bar: .oursAtMost(Double(limit)),
      isCount: true, counts: counts)
  }
}
