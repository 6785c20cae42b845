import CInterposer
import CommandSupport
import Foundation
import TableStore

/// The work of a program on a table while calls fail.
final class FaultyWork {
  static let catalogue = Catalogue(entities: 6, versions: 4)
  private static let slots = 4
  /// No pause after failures is longer than this many attempts.
  private static let longestPause = 1100

  private let findings: Findings
  private let folder: TableFolder
  private var present: [Int: Int] = [:]
  private var context = ""
  private var isHarmless = true

  init(findings: Findings) throws {
    self.findings = findings
    folder = try TableFolder()
  }

  /// Works with a fault from one call to another, then without; returns how many calls there were.
  @discardableResult
  func run(_ fault: FaultsMethod.Fault?, first: Int, last: Int) throws -> Int {
    isHarmless = fault?.isHarmless ?? true
    if let fault {
      context = "\(fault.name) from call \(first) " + (last == .max ? "on" : "to \(last)")
    }
    try prepare()
    interposer_reset()
    if let fault { interposer_fail(first, last, fault.kind, fault.value) }
    let table = work()
    let calls = interposer_call_count()
    findings.count("failed calls", interposer_fault_count())
    interposer_reset()
    if let table {
      resume(table)
      check(table)
      table.close()
    }
    try checkAfterwards()
    return calls
  }

  private func prepare() throws {
    let table = try folder.open(slots: Self.slots)
    for entity in 0..<3 {
      try table.store(ImageVersion(entity: entity, version: 0), in: Self.catalogue)
      present[entity] = 0
    }
    table.close()
  }

  // MARK: While calls fail

  private func work() -> Table? {
    guard let table = attempt({ try self.folder.open(slots: Self.slots) }) else { return nil }
    for version in 1..<3 {
      for entity in 0..<Self.catalogue.entityCount {
        store(ImageVersion(entity: entity, version: version), in: table)
      }
      check(table)
      remove(version, from: table)
      rename(ImageVersion(entity: 4, version: version), in: table)
      _ = attempt { try table.flush() }
    }
    if attempt({ try table.removeAll() }) != nil { present = [:] }
    store(ImageVersion(entity: 5, version: 3), in: table)
    check(table)
    return table
  }

  private func store(_ image: ImageVersion, in table: Table) {
    // The caller gets the image even if the table does not take it.
    guard let sealed = attempt({ try table.seal(image, in: Self.catalogue) }) else { return }
    let insertion = attempt { try table.insert(sealed) }
    let entry = insertion?.entry ?? TableEntry(keepingPrivate: sealed)
    if !entry.shows(image) { findings.report(.wrongImage, "\(image) as stored, \(context)") }
    guard let insertion else { return }
    forgetEvicted(insertion)
    present[image.entity] = image.version
  }

  private func forgetEvicted(_ insertion: Insertion) {
    let entity = insertion.eviction?.entity.flatMap { Self.catalogue.entity(of: $0) }
    if let entity { present[entity] = nil }
  }

  private func remove(_ entity: Int, from table: Table) {
    let key = Self.catalogue.key(ImageVersion(entity: entity, version: 0))
    _ = attempt { try table.remove(key.entity) }
    // It is a miss from now on, even if the file still names it.
    present[entity] = nil
  }

  /// Gives an image to another entity and back.
  private func rename(_ image: ImageVersion, in table: Table) {
    let (key, away) = (Self.catalogue.key(image), TableID("away"))
    for (old, new) in [(key.entity, away), (away, key.entity)] {
      let insertion = attempt { try table.changeEntity(from: old, to: new) }
      guard case .some(.some(let insertion)) = insertion else { continue }
      if !insertion.entry.shows(image) {
        findings.report(.wrongImage, "\(image), \(context)")
      }
      forgetEvicted(insertion)
    }
    // Where a call failed it is under either id, or lost like any image that could not be read.
    if table.contains(away) { present[image.entity] = nil }
  }

  /// Runs a call of the table. Its typed error is an outcome, unless the fault is one that no
  /// caller may notice.
  private func attempt<Result>(_ body: () throws -> Result) -> Result? {
    do {
      let result = try body()
      findings.count("calls answered")
      return result
    } catch {
      findings.count("typed errors")
      if isHarmless || !(error is TableError) {
        findings.report(.other, "\(error), \(context)")
      }
      return nil
    }
  }

  private func check(_ table: Table) {
    for image in Self.catalogue.images {
      guard let entry = table.entry(for: Self.catalogue.key(image)) else { continue }
      findings.count("hits")
      if !entry.shows(image) { findings.report(.wrongImage, "\(image), \(context)") }
      if present[image.entity] != image.version {
        findings.report(.undead, "\(image), \(context)")
      }
    }
    if isHarmless { checkCompleteness(of: table) }
  }

  /// A failed read costs the image that was read; without a failed call no image may go.
  private func checkCompleteness(of table: Table) {
    for (entity, version) in present.sorted(by: { $0.key < $1.key }) {
      let image = ImageVersion(entity: entity, version: version)
      if table.entry(for: Self.catalogue.key(image)) == nil {
        findings.report(.lostEntry, "\(image), \(context)")
      }
    }
  }

  // MARK: Without faults

  private func resume(_ table: Table) {
    let image = ImageVersion(entity: 0, version: 3)
    for attempt in 0..<Self.longestPause {
      guard let insertion = try? table.store(image, in: Self.catalogue) else { continue }
      forgetEvicted(insertion)
      present[image.entity] = image.version
      findings.count("stores resumed at once", attempt == 0 ? 1 : 0)
      return
    }
    findings.report(.other, "nothing can be stored any more, \(context)")
  }

  private func checkAfterwards() throws {
    let table = try folder.open(slots: Self.slots)
    if !table.statistics.isOwner { findings.report(.other, "somebody owns it, \(context)") }
    if try folder.isDamaged { findings.report(.other, "the table is damaged, \(context)") }
    check(table)
    try table.store(ImageVersion(entity: 1, version: 3), in: Self.catalogue)
    table.close()
    let names = try folder.fileNames
    if names.count != 1 { findings.report(.other, "the folder has \(names), \(context)") }
  }
}
