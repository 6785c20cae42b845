import CommandSupport

/// One line of the result: the figures of the cache and of a reference in the same run, and the
/// bar.
struct Measure: Sendable {
  /// The statistic of many turns that is compared.
  enum Statistic: String, Sendable { case median, p99 }

  /// `P1` to `P18`, `Q1`, `Q2`, `M1`, `S2` to `S14`, or the name of another scenario.
  let id: String
  /// The operation that was timed.
  let what: String
  let unit: String
  let ours: Distribution
  /// `nil` where this run could not measure it.
  let reference: Distribution?
  let referenceName: String
  /// `nil` for a line that is there to be read beside others.
  let bar: Bar?
  let statistic: Statistic
  let counts: [(name: String, value: Int)]

  init(
    _ id: String, _ what: String, unit: String = "ns", ours: Distribution,
    reference: Distribution? = nil, named referenceName: String = "none", bar: Bar? = nil,
    statistic: Statistic = .median, counts: [(name: String, value: Int)] = []
  ) {
    self.id = id
    self.what = what
    self.unit = unit
    self.ours = ours
    self.reference = reference
    self.referenceName = referenceName
    self.bar = bar
    self.statistic = statistic
    self.counts = counts
  }

  /// A line for a count, which does not depend on time.
  static func counted(_ id: String, _ what: String, _ count: Int, mustBe limit: Int) -> Measure {
    counted(id, what, count, .oursIs(Double(limit)))
  }

  /// The same for a count that may be smaller.
  static func counted(
    _ id: String, _ what: String, unit: String = "times", _ count: Int, atMost limit: Int
  ) -> Measure {
    counted(id, what, unit: unit, count, .oursAtMost(Double(limit)))
  }

  private static func counted(
    _ id: String, _ what: String, unit: String = "times", _ count: Int, _ bar: Bar
  ) -> Measure {
    Measure(id, what, unit: unit, ours: Distribution([Double(count)]), bar: bar)
  }

  var oursValue: Double { value(of: ours) }
  var referenceValue: Double? { reference.map { value(of: $0) } }

  /// Ours by the reference; the other way round where the bar asks for a gain.
  var ratio: Double? {
    guard let referenceValue, referenceValue > 0, oursValue > 0 else { return nil }
    return bar?.figure == .gain ? referenceValue / oursValue : oursValue / referenceValue
  }

  /// `nil` without a bar, or without the figure that it bounds.
  var isMet: Bool? {
    guard let bar else { return nil }
    let figure = bar.figure == .ours ? oursValue : ratio
    return figure.map { bar.holds(for: [$0]) }
  }

  private func value(of distribution: Distribution) -> Double {
    statistic == .median ? distribution.median : distribution.p99
  }
}
