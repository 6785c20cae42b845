import CommandSupport
import FastImageCache
import Foundation
import Locking
import TableStore
import TestSupport

/// Lets calls of a store of originals fail, and checks each result and the folder afterwards.
struct OriginalFaultsMethod: CountedMethod {
  static let name = "originals-faults"
  static let counts = (range: 1...1_000_000, standard: Int.max)
  static let grammar = makeGrammar(
    summary: "lets calls of a store of originals fail, and fills its disk",
    count: "runs with a failing call (all of them)",
    discussion: """
      Originals are kept, replaced, read, continued, copied, removed and flushed. In each run one of the store's own
      calls to the system, three in a row, or every call from one on, fails with ENOSPC, EIO, EMFILE, EDQUOT or
      EPERM; or all files are on a disk that is soon full, where this process may mount one, so that SQLite's calls
      fail as well. What is found must be right, what was removed may not be back, and a copy is the old file or
      whole. Then calls work again: the store must keep at once.
      """)

  /// Faults that a run is to find.
  enum Plant {
    /// An original that the store refused counts as kept.
    case ignoredRefusals
  }

  private static let codes = [ENOSPC, EIO, EMFILE, EDQUOT, EPERM]
  let count: Int
  let seed: UInt64
  var plant: Plant?

  /// Calls of a run, of which some fail.
  private final class Faults: Sendable {
    private let state: Lock<(calls: Int, range: Range<Int>)>
    private let code: Int32

    init(_ range: Range<Int>, _ code: Int32) { (state, self.code) = (Lock((0, range)), code) }

    var callCount: Int { state.withLock { $0.calls } }

    func end() { state.withLock { $0.range = .max..<Int.max } }

    var system: SystemCalls {
      SystemCalls { [self] call throws(SystemError) in
        let fails = state.withLock { state in
          defer { state.calls += 1 }
          return state.range.contains(state.calls)
        }
        if fails { throw SystemError(call: call.kind, code: code) }
      }
    }
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != nil)
    let calls = try await work(Faults(.max..<Int.max, 0), findings, "no fault")
    var faults: [(Range<Int>, Int32)] = []
    for code in Self.codes {
      for first in 0..<calls {
        faults += [1, 3, Int.max - first].map { (first..<first + $0, code) }
      }
    }
    var random = SplitMix64(state: seed)
    for (range, code) in faults.shuffled(using: &random).prefix(count) {
      _ = try await work(
        Faults(range, code), findings, "calls \(range) fail with \(code), seed \(seed)")
      findings.count("faulty runs")
    }
    for size in stride(from: 100 << 10, through: 1600 << 10, by: 100 << 10) {
      let folder = try OriginalsFolder()
      try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
      guard SmallDisk.mount(at: folder.path, byteCount: size) else { break }
      defer { SmallDisk.unmount(folder.path) }
      _ = try await work(
        Faults(.max..<Int.max, 0), findings, "a disk of \(size) bytes", in: folder, isSmall: true)
      findings.count("full disks")
    }
    return findings
  }

  /// - Returns: The calls that were made.
  private func work(
    _ faults: Faults, _ findings: Findings, _ context: String, in given: OriginalsFolder? = nil,
    isSmall: Bool = false
  ) async throws -> Int {
    let folder = try given ?? OriginalsFolder()
    let copy = folder.path + "-copy"
    let old = Data("the file that was there".utf8)
    try old.write(to: URL(filePath: copy))
    let store = OriginalStore(folder.url, OriginalCatalogue.wideLimit, system: faults.system) {
      Int64(Date().timeIntervalSince1970 * 1_000_000)
    }
    let program = try await OriginalProgram(store)
    var expected: [Int: Set<Int?>] = [:]
    for version in 1...2 {
      for number in 0..<4 {
        try? await program.keep(number, OriginalCatalogue.content(number, version))
        let read = try? await store.bytes(of: OriginalCatalogue.id(number))
        // Where a call failed, the older one may be there, or none.
        expected[number] =
          if plant == .ignoredRefusals { [version] } else if let read {
            [OriginalCatalogue.version(of: read, number) ?? 0]
          } else { [nil, version, version - 1] }
      }
      _ = try? await program.arrive(version, upTo: version * 400_000)
    }
    _ = try? await store.copyFile(of: OriginalCatalogue.id(2), to: URL(filePath: copy))
    let copied = FileManager.default.contents(atPath: copy)
    if copied != old, copied.flatMap({ OriginalCatalogue.version(of: $0, 2) }) == nil {
      findings.report(.other, "a copy is neither the old file nor whole, \(context)")
    }
    if (try? await store.remove(OriginalCatalogue.id(3))) != nil { expected[3] = [nil] }
    try? await store.flush()
    let calls = faults.callCount
    faults.end()
    let later = try await OriginalProgram(folder, byteLimit: OriginalCatalogue.wideLimit)
    let found = isSmall ? (try? await later.versions()) ?? [:] : try await later.versions()
    for number in 0..<4 where expected[number]?.contains(found[number]) != true {
      // A read that failed may have dropped what it took for gone.
      if found[number] == nil, plant == nil { continue }
      let fault: Findings.Fault =
        found[number] == nil ? .lostEntry : found[number] == 0 ? .wrongImage : .undead
      findings.report(fault, "original \(number), \(context)")
    }
    guard !isSmall else { return calls }
    try await program.keep(5, OriginalCatalogue.content(5, 1))
    if try await later.store.bytes(of: OriginalCatalogue.id(5)) == nil {
      findings.report(.lostEntry, "the next original, \(context)")
    }
    return calls
  }
}
