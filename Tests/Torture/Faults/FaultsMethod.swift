import CInterposer
import CommandSupport
import Foundation
import TableStore
import TestSupport

/// Lets system calls fail, and checks the caller's result and the table afterwards.
struct FaultsMethod: TortureMethod {
  static let name = "faults"
  static let grammar = makeGrammar(
    summary: "lets each system call fail, up to three times and for ever, and meets real limits",
    count: "runs with a failing call (all of them)",
    discussion: """
      A table is opened, stored to, evicted from, removed from, flushed and emptied. In each run one
      call, two or three in a row, or every call from one on, fails with ENOSPC, EIO, EMFILE or
      ENOMEM, is interrupted by a signal, or moves fewer bytes than asked. The caller must get the
      image or a typed error; once the fault is gone, storing must work again, and the table must be
      whole. An interrupted call and a short one must not be noticed at all. Then children meet real
      limits: of descriptors, of address space, of a file's size, and a full disk, for which a small
      file system is mounted where that is allowed.
      """)

  /// The fault of a call.
  struct Fault {
    let name: String
    let kind: interposer_fault
    let value: Int
    /// True when no caller may notice.
    var isHarmless: Bool { kind == interposer_interrupt || kind == interposer_shorten }
  }

  static let faults = [
    Fault(name: "ENOSPC", kind: interposer_errno, value: Int(ENOSPC)),
    Fault(name: "EIO", kind: interposer_errno, value: Int(EIO)),
    Fault(name: "EMFILE", kind: interposer_errno, value: Int(EMFILE)),
    Fault(name: "ENOMEM", kind: interposer_errno, value: Int(ENOMEM)),
    Fault(name: "EINTR", kind: interposer_interrupt, value: 0),
    Fault(name: "a short transfer", kind: interposer_shorten, value: 100),
  ]

  private struct Run {
    let fault: Fault
    let first: Int
    let last: Int
  }

  private let count: Int
  private let seed: UInt64

  init(_ arguments: Arguments, seed: UInt64) throws {
    count = try arguments.integer("--count", in: 1...1_000_000) ?? .max
    self.seed = seed
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed)
    if interposer_is_available() != 0 {
      try failCalls(findings)
    } else {
      Console.note("faults: calls cannot be stood before here; only real limits are met.")
    }
    try Limits(findings: findings).run()
    return findings
  }

  private func failCalls(_ findings: Findings) throws {
    let calls = try FaultyWork(findings: findings).run(nil, first: 0, last: 0)
    var runs = Self.faults.flatMap { fault in
      (0..<calls).flatMap { first in
        // The reaction to one failure may fail too, and so may the reaction to that.
        [first, first + 1, first + 2, .max].map { Run(fault: fault, first: first, last: $0) }
      }
    }
    var random = SplitMix64(state: seed)
    runs.shuffle(using: &random)
    for run in runs.prefix(count) {
      try FaultyWork(findings: findings).run(run.fault, first: run.first, last: run.last)
      findings.count("faulty runs")
    }
  }
}
