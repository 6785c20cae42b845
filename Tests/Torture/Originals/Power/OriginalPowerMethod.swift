import CommandSupport
import Foundation
import OriginalStore
import TestSupport

/// Models power cuts, and opens the folders of originals that the device may hold.
struct OriginalPowerMethod: TortureMethod {
  static let name = "originals-power"
  static let grammar = makeGrammar(
    summary: "opens stores of originals as a device may hold them after a power cut",
    count: "images to open (1000)",
    discussion: """
      Originals are kept, replaced, removed, left with their first blocks, finished and flushed, and all
      that the store tells the system is kept. The power goes after any of these calls. Files are as in
      `power`: nothing of an original is ever synchronised, so each of its sectors may be missing; each
      name leads to any file that had it since the folder was synchronised, or to none. Every original
      and every block that is found is compared with what its key says, every freshness with its
      version. What was gone at a flush() must not be back. Then the store must go on.
      """)

  private static let stepCount = 60
  private static let imagesPerSession = 50

  /// Faults that a run is to find.
  enum Plant {
    case none
    /// The proof of each original is right, whatever its content is.
    case rightProofs
    /// Synchronising does nothing.
    case noBarriers
  }

  private let count: Int
  private let seed: UInt64
  private let plant: Plant

  init(_ arguments: Arguments, seed: UInt64) throws {
    self.init(
      count: try arguments.integer("--count", in: 1...10_000_000) ?? 1000, seed: seed, plant: .none)
  }

  init(count: Int, seed: UInt64, plant: Plant) {
    (self.count, self.seed, self.plant) = (count, seed, plant)
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != .none)
    var random = SplitMix64(state: seed)
    while findings.value("images") < count {
      let session = try await OriginalPowerSession(stepCount: Self.stepCount, using: &random)
      let imageCount = min(Self.imagesPerSession, count - findings.value("images"))
      try await run(session, imageCount, findings, using: &random)
    }
    return findings
  }

  private func run(
    _ session: OriginalPowerSession, _ imageCount: Int, _ findings: Findings,
    using random: inout SplitMix64
  ) async throws {
    let events = session.journal.events
    let cuts = (0..<imageCount).map { _ in Int.random(in: 1...events.count, using: &random) }
    var device = Device(ignoresPromises: plant == .noBarriers)
    var taken = 0
    for cut in cuts.sorted() {
      for event in events[taken..<cut] { device.take(event) }
      taken = cut
      let (files, isOrdinary) = device.image(using: &random)
      let folder = try OriginalsFolder()
      try FileManager.default.putFiles(files, into: folder.path)
      if plant == .rightProofs { try forgeProofs(of: files, in: folder) }
      findings.count("images")
      let inspection = OriginalInspection(
        folder: folder, byteCount: LargeOriginal.budget, findings: findings,
        context: "cut after call \(cut) of a session", isDamaged: true)
      let expectation = isOrdinary ? session.history.expectation(at: cut) : nil
      try await look(inspection, expectation, findings)
    }
  }

  /// - Parameter expectation: What may be there; `nil` where sectors hold what never stood in them.
  private func look(
    _ inspection: OriginalInspection, _ expectation: PowerExpectation?, _ findings: Findings
  ) async throws {
    let context = inspection.context
    func check(_ version: Int, of entity: Int) {
      guard let expectation, !expectation.allows(Picture(entity: entity, version: version)) else {
        return
      }
      findings.report(.undead, "version \(version) of \(entity), \(context)")
    }
    let shelf = await inspection.open { settings in
      settings.report = { event in
        if case .damaged = event { findings.count("torn originals refused") }
      }
    }
    for (number, version) in try inspection.found(on: shelf) { check(version, of: number) }
    for number in LargeOriginal.numbers {
      if let partial = await shelf.takePartial(number) {
        findings.count("blocks compared", partial.bytes.count / PartialFile.blockByteCount)
        let (version, isRight) = LargeOriginal.version(of: partial.bytes, partial.facts, number)
        if !isRight { findings.report(.wrongPicture, "blocks of \(number), \(context)") }
        check(version, of: OriginalPowerSession.partial + number)
      }
      guard let kept = try shelf.read(LargeOriginal.key(number)) else { continue }
      findings.count("large originals compared")
      let (version, isRight) = LargeOriginal.version(of: kept.bytes, kept.facts, number)
      if !isRight || kept.bytes.count != LargeOriginal.byteCount {
        findings.report(.wrongPicture, "large original \(number), \(context)")
      }
      check(version, of: OriginalPowerSession.large + number)
    }
    try await inspection.keepOneMore(on: shelf)
  }

  /// Makes a store believe the content that it finds, as if originals had no hash.
  private func forgeProofs(of files: [String: [UInt8]], in folder: OriginalsFolder) throws {
    let store = try OriginalFolder(path: folder.path)
    let now = Int64(Date().timeIntervalSince1970)
    for number in OriginalCatalogue.numbers {
      let key = OriginalCatalogue.key(number)
      for version in OriginalCatalogue.versions {
        let facts = OriginalCatalogue.facts(number, version, stored: now)
        let byteCount = OriginalCatalogue.byteCount(number, version)
        guard let bytes = files[key.digest.fileName],
          bytes.count == (try OriginalFolder.fileByteCount(content: byteCount, key, facts))
        else { continue }
        _ = try store.write(Data(bytes.prefix(byteCount)), key, facts)
      }
    }
  }
}
