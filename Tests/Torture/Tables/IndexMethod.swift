import CInterposer
import CommandSupport
import TestSupport

/// Gives a table wrong index files between its openings.
struct IndexMethod: CountedMethod {
  static let name = "index"
  static let counts = (range: 1...10_000_000, standard: 2000)
  static let grammar = makeGrammar(
    summary: "opens a table with index files that are wrong", count: "openings (2000)",
    discussion: """
      Between two openings of a table its index file gets garbage in a few words or everywhere, is set back
      to an earlier one, replaced by another table's, with this one's header or its own, cut, given a hole,
      or deleted; or the table file is set back to an earlier one, as a new file or in place; or slots get
      other bytes. Before one opening of four the system seems to have started anew. Every hit is compared
      with what its key says. Where the index file was left alone or cannot fit, each image must be
      there, and no removed one; that holds again after each start of the system.
      """)

  /// A fault that a run is to find.
  enum Plant {
    /// Content is not checked before it is shown.
    case deafProof
    /// The record of a slot that is free again stays in the file.
    case keptRecords
  }

  let count: Int
  let seed: UInt64
  var plant: Plant?

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != nil)
    var random = SplitMix64(state: seed)
    var attacks = try IndexAttacks(findings: findings, hasProof: plant != .deafProof)
    if plant == .keptRecords { interposer_skip_zeros(TableFolder.recordByteCount) }
    defer { interposer_skip_zeros(0) }
    try attacks.run(count: count, using: &random)
    return findings
  }
}
