/// One thing that a cache does often enough for its time to matter.
protocol Scenario: Sendable {
  static var name: String { get }
  static var summary: String { get }

  init()

  /// - Parameter setting: Where it may keep files, and how large the table is.
  func measure(_ setting: BenchSetting) async throws -> Measurement.Outcome
}
