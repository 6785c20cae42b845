import CommandSupport
import Foundation
import TableStore
import TestSupport

/// A table whose files are changed between its openings, and what it must show.
struct IndexAttacks {
  private enum Attack: CaseIterable {
    case none, words, garbage, old, header, anothers, spliced, cut, hole, missing, backup, inPlace,
      slots

    /// The index file may fit afterwards and be wrong, or images may be lost.
    var isLossy: Bool {
      switch self {
      case .none, .header, .anothers, .cut, .missing, .backup: false
      case .words, .garbage, .old, .spliced, .hole, .inPlace, .slots: true
      }
    }
  }

  /// The table file at an earlier moment, its index file, and the images, if they were known.
  private struct Moment {
    let table: [UInt8]
    let index: [UInt8]
    let present: [Int: Int]?
  }

  private static let catalogue = Catalogue(entities: 14, versions: 3)
  private static let slots = 9
  /// Offset of what a header does not tell.
  private static let headerByteCount = 72

  private let findings: Findings
  private let proof: DeafProof?
  private let folder: TableFolder
  private let other: TableFolder
  private var moments: [Moment] = []
  /// The version of each entity that is there; `nil` where a lossy attack leaves that open.
  private var present: [Int: Int]? = [:]
  private var start = 0

  init(findings: Findings, hasProof: Bool) throws {
    self.findings = findings
    proof = hasProof ? nil : try DeafProof(Self.catalogue)
    folder = try TableFolder()
    other = try TableFolder()
    let table = try other.open(slots: Self.slots)
    for entity in 0..<Self.slots {
      try table.store(ImageVersion(entity: entity, version: 2), in: Self.catalogue)
    }
    table.close()
  }

  mutating func run(count: Int, using random: inout SplitMix64) throws {
    for round in 0..<count {
      var attack = Attack.none
      if round > 0 {
        attack = Attack.allCases[Int.random(in: 0..<Attack.allCases.count, using: &random)]
        try strike(attack, using: &random)
      }
      let isNewStart = Int.random(in: 0..<4, using: &random) == 0
      if isNewStart { start += 1 }
      try session(
        isNewStart: isNewStart, "opening \(round) after \(attack), start \(start)", using: &random)
    }
  }

  // MARK: A session

  /// Opens the table, looks at all images, works, and closes it.
  private mutating func session(
    isNewStart: Bool, _ context: String, using random: inout SplitMix64
  ) throws {
    let boot = BootID(naming: "start \(start)")
    let system = SystemCalls(observer: nil, bootID: boot)
    let table = try folder.open(slots: Self.slots, system: system)
    defer { table.close() }
    findings.count("openings")
    let found = look(at: table, context)
    if let present { compare(found, with: present, context) }
    // Only records tell what is there; those that a wrong index file hid may come back with them.
    if isNewStart || present != nil { present = found }
    var held: [(ImageVersion, TableEntry)] = []
    for _ in 0..<Int.random(in: 0..<24, using: &random) {
      let image = Self.catalogue.randomImage(using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<9: try store(image, in: table)
      case 9..<12: try remove(image, from: table, context)
      case 12: try table.flush()
      case 13 where Bool.random(using: &random):
        try table.removeAll()
        present = [:]
      default:
        guard let entry = hit(image, in: table, context) else { break }
        held.append((image, entry))
      }
      if held.count > 3 { held.removeFirst() }
      for (image, entry) in held where !entry.shows(image) {
        findings.report(.wrongImage, "\(image) changed under its lease, \(context)")
      }
    }
    let last = look(at: table, context)
    if let present { compare(last, with: present, "at the end of " + context) }
  }

  private mutating func store(_ image: ImageVersion, in table: Table) throws {
    let insertion = try table.store(image, in: Self.catalogue)
    if let eviction = insertion.eviction {
      if let entity = eviction.entity.flatMap(Self.catalogue.entity(of:)) {
        present?[entity] = nil
      } else {
        present = nil
      }
    }
    present?[image.entity] = image.version
  }

  private mutating func remove(
    _ image: ImageVersion, from table: Table, _ context: String
  ) throws {
    let entity = Self.catalogue.key(image).entity
    _ = try table.remove(entity)
    present?[image.entity] = nil
    if table.contains(entity) { findings.report(.undead, "\(image) just removed, \(context)") }
  }

  private func hit(_ image: ImageVersion, in table: Table, _ context: String) -> TableEntry? {
    let key = Self.catalogue.key(image)
    let answer = proof.map { $0.answering(image) { table.entry(for: key) } }
    guard let entry = answer ?? table.entry(for: key) else { return nil }
    findings.count("hits")
    if !entry.shows(image) { findings.report(.wrongImage, "\(image), \(context)") }
    return entry
  }

  /// All images that are found.
  private func look(at table: Table, _ context: String) -> [Int: Int] {
    var found: [Int: Int] = [:]
    for image in Self.catalogue.images where hit(image, in: table, context) != nil {
      if let version = found.updateValue(image.version, forKey: image.entity) {
        findings.report(.undead, "version \(version) besides \(image), \(context)")
      }
    }
    return found
  }

  private func compare(_ found: [Int: Int], with present: [Int: Int], _ context: String) {
    findings.count("tables compared")
    for entity in Set(found.keys).union(present.keys) where found[entity] != present[entity] {
      let fault: Findings.Fault = found[entity] == nil ? .lostEntry : .undead
      findings.report(fault, "entity \(entity), \(context)")
    }
  }

  // MARK: Attacks

  private mutating func strike(_ attack: Attack, using random: inout SplitMix64) throws {
    let path = try folder.filePath
    let index = path + "-index"
    let (table, bytes) = (try Self.bytes(path), (try? Self.bytes(index)) ?? [])
    moments.append(Moment(table: table, index: bytes, present: present))
    if moments.count > 6 { moments.removeFirst() }
    let moment = moments[Int.random(in: 0..<moments.count, using: &random)]
    let header = bytes.prefix(Self.headerByteCount)
    // Small numbers lead somewhere, others out of the table.
    let limit = Bool.random(using: &random) ? UInt8(Self.slots + 2) : .max
    var changed = bytes
    findings.count("attacks", attack == .none ? 0 : 1)
    switch attack {
    case .none: return
    case .words, .header:
      let places =
        attack == .header ? 0..<header.count : header.count..<max(header.count, bytes.count)
      for _ in 0..<Int.random(in: 1...40, using: &random) where !bytes.isEmpty {
        changed[Int.random(in: places, using: &random)] ^= UInt8.random(
          in: 1...limit, using: &random)
      }
      // Two changes of one byte may undo each other.
      if changed.starts(with: header), attack == .header, !bytes.isEmpty { changed[64] ^= 1 }
    case .garbage:
      changed =
        Array(header)
        + bytes.dropFirst(header.count).map { _ in .random(in: 0...limit, using: &random) }
    case .old: changed = moment.index
    case .anothers: changed = try Self.bytes(other.filePath + "-index")
    case .spliced:
      changed = try Array(header) + Self.bytes(other.filePath + "-index").dropFirst(header.count)
    case .cut: changed.removeLast(Int.random(in: 0..<bytes.count + 1, using: &random))
    case .hole:
      truncate(index, off_t(Int.random(in: 0...bytes.count, using: &random)))
      truncate(index, off_t(bytes.count))
      present = nil
      return
    case .missing:
      unlink(index)
      return
    case .backup:
      try folder.replaceFile(with: moment.table)
      present = moment.present
      return
    case .inPlace: try Self.overwrite(path, with: moment.table)
    case .slots:
      var table = table
      for _ in 0..<3 {
        let places = max(0, table.count - 20_000)..<table.count
        table[Int.random(in: places, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      }
      try Self.overwrite(path, with: table)
    }
    if changed != bytes { try Self.overwrite(index, with: changed) }
    if attack.isLossy { present = nil }
  }

  private static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Writes in place, so that the file stays the one that it is.
  private static func overwrite(_ path: String, with bytes: [UInt8]) throws {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    guard file >= 0, ftruncate(file, 0) == 0,
      bytes.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) == bytes.count
    else { throw CommandFailure("\(path) cannot be written.") }
  }
}
