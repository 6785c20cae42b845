/// What one run of the program found.
struct RunReport: Codable {
  struct Failure: Codable {
    let scenario: String
    let reason: String
  }

  var measures: [Measure] = []
  var failures: [Failure] = []
}
