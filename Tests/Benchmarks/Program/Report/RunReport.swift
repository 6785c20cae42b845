import Foundation

/// The report of one run, as its process printed it with `--json`.
struct RunReport: Decodable {
  struct Line: Decodable {
    let id: String
    let what: String
    let unit: String
    let ours: Double
    let reference: Double?
    let referenceName: String
    let ratio: Double?
    private let limit: Double?
    private let figure: Measure.Bar.Figure?
    private let rule: Measure.Bar.Rule?
    let counts: [String: Int]

    private enum CodingKeys: String, CodingKey {
      case id, what, unit, ours, reference, ratio, counts
      case referenceName = "reference_name"
      case limit = "bar"
      case figure = "bar_of"
      case rule = "bar_is"
    }

    var bar: Measure.Bar? {
      guard let limit, let figure, let rule else { return nil }
      return Measure.Bar(figure: figure, rule: rule, limit: limit)
    }
  }

  struct Failure: Decodable {
    let scenario: String
    let reason: String
  }

  let measures: [Line]
  let failures: [Failure]

  /// - Parameter json: All that the process wrote to its standard output.
  init(json: Data) throws { self = try JSONDecoder().decode(Self.self, from: json) }
}
