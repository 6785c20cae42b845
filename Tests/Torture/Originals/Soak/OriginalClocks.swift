import CommandSupport
import FastImageCache
import Foundation
import Locking
import OriginalStore
import TableStore
import TestSupport

/// A clock that jumps between and within sessions on one folder, and records that claim too much.
///
/// An original is there until 30 days after its last use, by the clock of now; a last use in the future
/// counts as one of this moment. It is fresh for 30 days after its server's answer at most.
struct OriginalClocks {
  private static let keptSeconds: Int64 = 30 * 86_400
  private static let year: Int64 = 365 * 86_400
  private static let base: Int64 = 1_700_000_000
  /// Seconds since 1970; 2038 and 2106 are where 31 and 32 bits end.
  private static let moments = [
    base, base + 86_400, base + year, base - year, 30, 1 << 31, 1 << 32,
  ]

  private let findings: Findings
  /// A planted fault: the store believes all for ten years.
  private let isCredulous: Bool
  private let parent: TemporaryFolder
  private let clock = Lock(base)
  private var known: [Int: (version: Int, lastUse: Int64, answered: UInt32)] = [:]

  init(_ findings: Findings, isCredulous: Bool) throws {
    (self.findings, self.isCredulous) = (findings, isCredulous)
    parent = try TemporaryFolder(prefix: "imagecache-torture")
  }

  private var now: Int64 { clock.withLock { $0 } }

  mutating func run(using random: inout SplitMix64) async throws {
    for _ in 0..<4 {
      jump(using: &random)
      try await work(using: &random)
      if Bool.random(using: &random) { try forge(using: &random) }
      jump(using: &random)
      try await check()
    }
    findings.count("clocks put wrong", 8)
  }

  private func jump(using random: inout SplitMix64) {
    let moment = Self.moments[Int.random(in: Self.moments.indices, using: &random)]
    clock.withLock { $0 = moment + Int64.random(in: 0..<1000, using: &random) }
  }

  private func isOver(_ lastUse: Int64) -> Bool {
    let age = now.subtractingReportingOverflow(lastUse)
    return !age.overflow && age.partialValue >= Self.keptSeconds
  }

  // MARK: Sessions

  private mutating func work(using random: inout SplitMix64) async throws {
    let folder = OriginalsFolder(path: makeStore().directory.path)
    let shelf = folder.shelf(OriginalBudget(byteCount: OriginalCatalogue.wideBudget)) { settings in
      settings.now = { [clock] in clock.withLock { $0 * 1_000_000 } }
    }
    await shelf.budget.run { try? shelf.open() }
    let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
    let version = Int.random(in: OriginalCatalogue.versions, using: &random)
    await shelf.keep(number, version)
    // The sweep before it has deleted what was over.
    for (other, original) in known where isOver(original.lastUse) { known[other] = nil }
    known[number] = (version, now, OriginalCatalogue.freshness(version).answered)
    for number in OriginalCatalogue.numbers where Bool.random(using: &random) {
      let kept = try shelf.read(OriginalCatalogue.key(number))
      compare(kept?.bytes, number)
      let now = now
      if kept != nil { known[number]?.lastUse = now }
    }
    await shelf.budget.run {}
  }

  /// Writes records that are whole and claim too much.
  private mutating func forge(using random: inout SplitMix64) throws {
    let folder = try OriginalFolder(path: makeStore().directory.path)
    guard let index = try folder.ownIndex() else { return }
    for (place, found) in index.records {
      guard
        let number = known.keys.first(where: { OriginalCatalogue.key($0).digest == found.key })
      else { continue }
      var record = found
      (record.freshFor, record.staleWhileRevalidate, record.staleIfError) = (.max, .max, .max)
      record.answered = [0, UInt32(now & 0xffff_ffff), .max].randomElement(using: &random) ?? 0
      record.stored = [0, .max].randomElement(using: &random) ?? 0
      record.lastUse =
        [.min, 0, now * 1_000_000, .max].randomElement(using: &random) ?? record.lastUse
      try index.write(record, at: place)
      known[number]?.lastUse = record.lastUse / 1_000_000
      known[number]?.answered = record.answered
      findings.count("records forged")
    }
  }

  // MARK: What a store says

  private func makeStore() -> SourceStore {
    var lifetime = SourceStore.Lifetime()
    if isCredulous { lifetime.kept = .seconds(10 * Self.year) }
    return SourceStore(
      name: "clocks", directory: parent.url,
      budget: StorageBudget(byteCount: OriginalCatalogue.wideBudget), lifetime: lifetime,
      protection: .untilFirstUnlock
    ) { settings in
      settings.now = { [clock] in clock.withLock { $0 * 1_000_000 } }
      settings.freeByteCount = { _ in nil }
    }
  }

  private func check() async throws {
    let store = makeStore()
    let target = parent.url.appendingPathComponent("copy")
    let listed = try await store.inspect()
    for number in OriginalCatalogue.numbers {
      let id = ImageID("https://example.com/\(number)")
      let audience = number.isMultiple(of: 3) ? Audience("alice") : .everyone
      let isListed = listed.first { $0.id == id }
      if let isListed, isListed.isFresh {
        findings.count("fresh originals")
        let age = now - Int64(known[number]?.answered ?? 0)
        if age < 0 || age >= Self.keptSeconds {
          findings.report(.other, "original \(number) is fresh \(age) s after its answer")
        }
      }
      let isCopied = try await store.copyFile(of: id, for: audience, to: target)
      let bytes = try await store.bytes(of: id, for: audience)
      compare(bytes, number)
      if isCopied != (bytes != nil) || (isListed != nil) != (bytes != nil) {
        findings.report(
          .other,
          "original \(number) is there: \(bytes != nil), copied: \(isCopied), "
            + "listed: \(isListed != nil)")
      }
    }
  }

  private func compare(_ bytes: Data?, _ number: Int) {
    guard let original = known[number] else {
      if bytes != nil { findings.report(.undead, "original \(number) under a wrong clock") }
      return
    }
    if let bytes {
      findings.count("originals compared")
      if bytes != OriginalCatalogue.content(number, original.version) {
        findings.report(.wrongPicture, "original \(number) under a wrong clock")
      }
    } else {
      findings.count("originals expired")
    }
    if isOver(original.lastUse) != (bytes == nil) {
      let age = now &- original.lastUse
      findings.report(
        bytes == nil ? .lostEntry : .other, "original \(number), \(age) s after its last use")
    }
  }
}
