import CommandSupport
import Foundation
import TestSupport

/// Lets calls of a store of originals fail, and checks each result and the folder afterwards.
struct OriginalFaultsMethod: TortureMethod {
  static let name = "originals-faults"
  static let grammar = makeGrammar(
    summary: "lets each system call of a store of originals fail, once, thrice and for ever",
    count: "runs with a failing call (all of them)",
    discussion: """
      A store is opened, kept in, read, continued, finished, copied from, removed from, flushed,
      suspended and resumed. In each run one call, three in a row, or every call from one on, fails with
      ENOSPC, EIO, EMFILE, EDQUOT or EPERM. What is found must be right, what is there may not be lost,
      and what was removed may not be back; the file that a copy was to replace is as it was, or whole.
      Half of the runs have room for all originals, so that none may be missing; in the others the
      folder is counted at each call. Then calls work again: the store must keep at once, and a copy
      must be whole while its original is evicted.
      """)

  /// A fault and how often it comes.
  struct Fault {
    let name: String
    let code: Int32
    /// The first call that fails, and how many do.
    let first: Int
    let count: Int
    let isTight: Bool
  }

  /// Faults that a run is to find.
  enum Plant {
    case none
    /// An original that the store refused counts as kept.
    case ignoredRefusals
    /// The store has a larger budget than it may have.
    case largeBudget
  }

  private static let codes = [
    ("ENOSPC", ENOSPC), ("EIO", EIO), ("EMFILE", EMFILE), ("EDQUOT", EDQUOT), ("EPERM", EPERM),
  ]

  private let count: Int
  private let seed: UInt64
  private let plant: Plant

  init(_ arguments: Arguments, seed: UInt64) throws {
    self.init(
      count: try arguments.integer("--count", in: 1...1_000_000) ?? .max, seed: seed, plant: .none)
  }

  init(count: Int, seed: UInt64, plant: Plant) {
    (self.count, self.seed, self.plant) = (count, seed, plant)
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != .none)
    var faults: [Fault] = []
    for isTight in [true, false] {
      var work = try OriginalFaultyWork(nil, isTight: isTight, plant, findings)
      let calls = try await work.run()
      for (name, code) in Self.codes {
        for first in 0..<calls {
          faults += [1, 3, .max].map {
            Fault(name: name, code: code, first: first, count: $0, isTight: isTight)
          }
        }
      }
    }
    var random = SplitMix64(state: seed)
    faults.shuffle(using: &random)
    for fault in faults.prefix(count) {
      var work = try OriginalFaultyWork(fault, isTight: fault.isTight, plant, findings)
      _ = try await work.run()
      findings.count("faulty runs")
    }
    return findings
  }
}
