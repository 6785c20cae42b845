import CommandSupport
import FastImageCache
import Foundation
import OriginalDatabase
import TableStore
import TestSupport

/// Models power cuts, and opens the folders of originals that the device may hold.
struct OriginalPowerMethod: CountedMethod {
  static let name = "originals-power"
  static let counts = (range: 1...10_000_000, standard: 1000)
  static let grammar = makeGrammar(
    summary: "opens stores of originals as a device may hold them after a power cut",
    count: "images to open (1000)",
    discussion: """
      Originals are kept, replaced, continued, removed and flushed, and the folder is copied after each step.
      The power goes after any of them. Bodies are never synchronised, so each of their sectors may be missing,
      each may be of any length or gone, and each that was deleted may be back. The database is synchronised
      when its log has been copied into it, and the log at a flush(); each later sector of the log may be missing.
      Every original, and each beginning of one, is compared with what its number says. What was gone at a flush()
      must not be back.
      Then the store must go on.
      """)

  private static let (stepCount, imagesPerSession) = (40, 50)
  private static let log = "/originals.sqlite-wal"

  /// Faults that a run is to find.
  enum Plant {
    /// The checksum of each original is right, whatever its bytes are.
    case rightChecksums
    /// Flushing does nothing.
    case noBarriers
  }

  let count: Int
  let seed: UInt64
  var plant: Plant?

  /// The files of a folder at rest, by their paths in it, and the versions that may be there after a cut.
  private struct Moment {
    let files: [String: Data]
    /// The database's log at the last flush.
    let flushedLog: Data
    let allowed: [Int: Set<Int>]
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != nil)
    var random = SplitMix64(state: seed)
    while findings.value("images") < count {
      let moments = try await session(using: &random)
      for _ in 0..<min(Self.imagesPerSession, count - findings.value("images")) {
        let index = Int.random(in: moments.indices, using: &random)
        let folder = try OriginalsFolder()
        try cut(moments, at: index, into: folder, using: &random)
        findings.count("images")
        try await look(
          at: folder, moments[index], findings, "cut after step \(index), seed \(seed)")
      }
    }
    return findings
  }

  private func session(using random: inout SplitMix64) async throws -> [Moment] {
    let folder = try OriginalsFolder()
    let program = try await OriginalProgram(folder, byteLimit: OriginalCatalogue.wideLimit)
    // Each version that was there since the last flush, and those that were there then.
    var allowed: [Int: Set<Int>] = [:]
    var (moments, flushedLog) = ([Moment](), Data())
    for _ in 0..<Self.stepCount {
      var isFlushed = false
      let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
      let version = Int.random(in: OriginalCatalogue.versions, using: &random)
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<6:
        try await program.keep(number, OriginalCatalogue.content(number, version))
        allowed[number, default: []].insert(version)
      case 6..<8: try await program.store.remove(OriginalCatalogue.id(number))
      case 8:
        _ = try await program.arrive(version, upTo: .random(in: 1...800_000, using: &random))
        allowed[OriginalCatalogue.large, default: []].insert(version)
      case 9: try await program.store.removeAll()
      default:
        let present = try await program.versions()
        if plant != .noBarriers {
          try await program.store.flush()
          isFlushed = true
        }
        allowed = present.mapValues { [$0] }
      }
      var files: [String: Data] = [:]
      for file in folder.files where !file.hasSuffix("-shm") {
        files[String(file.dropFirst(folder.path.count))] = FileManager.default.contents(
          atPath: file)
      }
      if isFlushed { flushedLog = files[Self.log] ?? Data() }
      moments.append(Moment(files: files, flushedLog: flushedLog, allowed: allowed))
    }
    return moments
  }

  /// Writes a folder as the device may hold it.
  private func cut(
    _ moments: [Moment], at index: Int, into folder: OriginalsFolder, using random: inout SplitMix64
  ) throws {
    var files = moments[index].files
    // Deletions that did not reach the device, and some of those that did.
    for (name, bytes) in moments[Int.random(in: 0...index, using: &random)].files
    where name.hasPrefix("/bodies/") { files[name] = files[name] ?? bytes }
    for (name, bytes) in files {
      let isBody = name.hasPrefix("/bodies/")
      // A database's own bytes were synchronised before its log began anew.
      guard isBody || name == Self.log else { continue }
      let flushed = moments[index].flushedLog
      let safe = !isBody && bytes.starts(with: flushed) ? flushed.count : 0
      switch Int.random(in: 0..<(isBody ? 5 : 2), using: &random) {
      case 0: files[name] = bytes.prefix(safe) + torn(bytes.dropFirst(safe), using: &random)
      case 1: files[name] = bytes.prefix(Int.random(in: safe...bytes.count, using: &random))
      case 2: files[name] = nil
      default: break
      }
    }
    try FileManager.default.createDirectory(
      atPath: folder.path + "/bodies", withIntermediateDirectories: true)
    for (name, bytes) in files { try bytes.write(to: URL(filePath: folder.path + name)) }
  }

  private func torn(_ bytes: Data, using random: inout SplitMix64) -> Data {
    var torn = Data(bytes)
    for start in stride(from: 0, to: torn.count, by: 512)
    where Int.random(in: 0..<4, using: &random) == 0 {
      torn.resetBytes(in: start..<min(start + 512, torn.count))
    }
    return torn
  }

  private func look(
    at folder: OriginalsFolder, _ moment: Moment, _ findings: Findings, _ context: String
  ) async throws {
    if plant == .rightChecksums { try believeAllBodies(in: folder) }
    let program = try await OriginalProgram(folder, byteLimit: OriginalCatalogue.wideLimit)
    for (number, version) in try await program.versions() {
      findings.count("originals compared")
      if version == 0 {
        findings.report(.wrongImage, "original \(number), \(context)")
      } else if moment.allowed[number]?.contains(version) != true {
        findings.report(.undead, "version \(version) of \(number), \(context)")
      }
    }
    try await program.checkBeginning(findings, context)
    try await program.checkNext(findings, context)
  }

  /// Gives the rows the checksums of whatever bytes their files have.
  private func believeAllBodies(in folder: OriginalsFolder) throws {
    let database = try Database(folder.database, makesFile: true, .none)
    var rows: [(row: Int64, body: UInt64)] = []
    // Killed before its first step, a store has no tables.
    guard
      (try? database.run(
        "SELECT id, body FROM original", [], { rows.append(($0.integer(0), $0.bits(1))) })) != nil
    else { return }
    for (row, body) in rows {
      let file = folder.path + "/bodies/" + BodyFolder.name(row: row, body: body)
      guard let bytes = FileManager.default.contents(atPath: file) else { continue }
      let checksum = bytes.withUnsafeBytes { Checksum.of($0, body: body) }
      try database.run(
        "UPDATE original SET checksum = ?, size = ?, whole = ? WHERE id = ?",
        [.bits(checksum), .number(bytes.count), .number(bytes.count), .integer(row)])
    }
  }
}
