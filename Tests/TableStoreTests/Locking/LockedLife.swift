import Foundation
import TestSupport
import Testing

@testable import TableStore

/// Plays steps of a table's life on a device that is locked at some moment, beside a model of the
/// images that may be found.
///
/// Invariants, which each step checks:
/// 1. A step is done, or it was refused: then it throws `protectedDataUnavailable` and nothing else.
/// 2. What is found was stored for its key, and the model allows it. What must be found is found,
///    unless calls of this very step were refused.
/// 3. The file keeps its name, except in a step that is done and has to replace it.
/// 4. No image counts as damaged, no file is mapped, and every entry is a copy.
final class LockedLife {
  /// An image of an entity; an entity without one is allowed to have `nil`.
  private struct Image: Hashable {
    let version: Int
    var metadata: [UInt8] = []
  }

  let fixture: Fixture
  let device: LockableDevice
  /// False after a complaint.
  private(set) var isRight = true
  private let moment: String
  private let geometry: TableGeometry
  private var slots: Int
  private var table: Table?

  /// The images of which one is found; an entity that is not listed has none.
  private var allowed: [Int: Set<Image?>] = [:]
  /// Every image that an entity ever had.
  private var history: [Int: Set<Image?>] = [:]
  /// The images before those in private files, which a lock while they move may bring back.
  private var waiting: [Int: Set<Image?>] = [:]
  /// The images before removals in another owner's file, which end with the process.
  private var buried: [Int: Set<Image?>] = [:]
  /// True when private images may have been lost; the next flush tells of it.
  private var mayReportLoss = false
  /// True once the file was cut: slots behind the cut are damaged, and the file is to be replaced.
  private var isCut = false
  private let path: String

  init(
    _ fixture: Fixture, _ device: LockableDevice, moment: String, slots: Int,
    geometry: TableGeometry = Fixture.geometry
  ) throws {
    self.fixture = fixture
    self.device = device
    self.moment = moment
    self.slots = slots
    self.geometry = geometry
    path = try fixture.filePath()
  }

  func open(slots: Int? = nil) {
    self.slots = slots ?? self.slots
    step("open") { _ in }
  }

  /// Takes images over that were stored before this life.
  func expect(_ entities: some Sequence<Int>) {
    for entity in entities { allow([Image(version: 1)], for: entity) }
  }

  /// Cuts the file behind a number of slots, while the table may have it open.
  func cut(behind slotCount: Int, losing entities: some Sequence<Int>) {
    guard let layout = try? TableLayout(geometry: geometry, capacity: .slots(slots)),
      truncate(path, off_t(layout.slotOffset(slotCount))) == 0
    else { return }
    isCut = true
    for entity in entities { allowed[entity, default: []].insert(nil) }
  }

  func store(_ entity: Int, _ version: Int = 1, evicting evicted: Int? = nil) {
    let isDone = step("store \(entity)") { table in
      let entry = try table.store(key(entity, version))
      check(entry.shows(key(entity, version)) && entry.isPrivate, "stored \(entity)")
    }
    if let evicted { allowed[evicted, default: []].insert(nil) }
    if isDone { change(entity, to: Image(version: version)) }
  }

  func storeIfMissing(_ entity: Int, evicting evicted: Int) {
    if table?.contains(key(entity)) != true { store(entity, evicting: evicted) }
  }

  func setMetadata(_ metadata: [UInt8], of entity: Int, _ version: Int = 1) {
    let refusals = device.refusedCount
    var isThere = false
    let isDone = step("set metadata of \(entity)") { table in
      isThere = try table.setMetadata(metadata, of: key(entity, version)) != nil
    }
    guard isDone else { return }
    if isThere { return change(entity, to: Image(version: version, metadata: metadata)) }
    let mustBeThere = allowed[entity, default: [nil]].allSatisfy { $0?.version == version }
    let wasMissed = device.refusedCount > refusals && !device.isLocked
    check(!mustBeThere || wasMissed, "metadata of \(entity) not there")
  }

  func remove(_ entity: Int) {
    var wasThere = false
    let isDone = step("remove \(entity)") { wasThere = try $0.remove(key(entity).entity) }
    let former = allowed[entity, default: [nil]]
    guard isDone else {
      // A record may be erased, and an older one not.
      return allow(former.union(history[entity, default: []]).union([nil]), for: entity)
    }
    check(wasThere || former.contains(nil), "removed \(entity)")
    if isSecond { buried[entity] = former }
    allowed[entity] = [nil]
  }

  func removeAll() {
    guard step("remove all", replacesFile: isOwner, { try $0.removeAll() }) else { return }
    for (entity, former) in allowed {
      if isSecond { buried[entity] = former }
      allowed[entity] = [nil]
    }
  }

  func flush() {
    let refusals = device.refusedCount
    if step("flush", { try $0.flush() }) { (waiting, buried) = ([:], [:]) }
    if device.refusedCount == refusals { mayReportLoss = false }
  }

  func suspend() { step("suspend") { try $0.suspend() } }

  func resume() { step("resume") { $0.resume() } }

  func close() {
    guard table != nil else { return }
    let refusals = device.refusedCount
    step("close") { $0.close() }
    table = nil
    if device.refusedCount > refusals { allowAlso(buried) }
    (waiting, buried, mayReportLoss) = ([:], [:], false)
  }

  func look(for entities: ClosedRange<Int> = 1...6) {
    for entity in entities { step("look for \(entity)") { look(for: entity, in: $0) } }
  }

  /// Checks the table that is open, and another opening of its file.
  func unlock() {
    device.unlock()
    look()
    check(isCut || table?.verify() == [], "damage")
  }

  private var isOwner: Bool { table?.statistics.isOwner == true }

  /// True when changes wait until the table owns the file; one of another geometry never does.
  private var isSecond: Bool { !isOwner && geometry == Fixture.geometry }

  private func look(for entity: Int, in table: Table) {
    let refusals = device.refusedCount
    let allowed = allowed[entity, default: [nil]]
    var found: [Image] = []
    for version in 1...2 {
      guard let entry = table.entry(for: key(entity, version)) else { continue }
      check(entry.shows(key(entity, version)) && entry.isPrivate, "wrong image of \(entity)")
      found.append(Image(version: version, metadata: entry.metadata))
    }
    check(found.count <= 1 && found.allSatisfy(allowed.contains), "found \(entity) as \(found)")
    guard found.isEmpty, !allowed.contains(nil) else { return }
    check(device.refusedCount > refusals, "lost \(entity)")
    // A second opener may not know yet of an owner's later images.
    guard table.statistics.isOwner, device.isLocked else { return }
    let versions = allowed.compactMap { $0?.version }
    let isSaid = versions.contains { table.isProtectedNow(key(entity, $0)) }
    check(isSaid || !device.isLocked, "\(entity) is no miss for good")
  }

  private func change(_ entity: Int, to image: Image) {
    if isSecond { waiting[entity] = allowed[entity, default: [nil]].union([nil]) }
    allow([image], for: entity)
  }

  private func allow(_ images: Set<Image?>, for entity: Int) {
    allowed[entity] = images
    history[entity, default: []].formUnion(images)
  }

  private func allowAlso(_ images: [Int: Set<Image?>]) {
    for (entity, former) in images { allowed[entity, default: []].formUnion(former) }
  }

  /// Makes one step; true when it was not refused.
  @discardableResult
  private func step(
    _ name: String, replacesFile: Bool = false, _ body: (Table) throws -> Void
  ) -> Bool {
    let (refusals, file, wasOpen) = (device.refusedCount, fileNumber, table != nil)
    var isDone = false
    do {
      try body(try openTable())
      isDone = true
    } catch TableError.protectedDataUnavailable(name: "rows")
      where device.refusedCount > refusals || (mayReportLoss && name == "flush")
    {
      // Refused, as it has to be.
    } catch {
      check(false, "\(name) threw \(error)")
    }
    if device.refusedCount > refusals, !waiting.isEmpty {
      allowAlso(waiting)
      mayReportLoss = true
    }
    // Opening replaces a file of another capacity, and mending one that was cut, maybe for some images only.
    let mayBeReplaced = !wasOpen || (isDone && replacesFile) || isCut
    if isCut, device.refusedCount > refusals {
      for entity in allowed.keys { allowed[entity]?.insert(nil) }
    }
    check(file == nil || mayBeReplaced || fileNumber == file, "\(name) replaced the file")
    check(isCut || (table?.statistics.damageCount ?? 0) == 0, "\(name) found damage")
    check(device.mapCount == 0, "\(name) mapped a file")
    return isDone
  }

  private func openTable() throws -> Table {
    if let table { return table }
    let opened = try fixture.open(
      slots: slots, geometry: geometry, protection: .complete, system: device.system)
    table = opened
    return opened
  }

  /// Tells the file under the table's name from others.
  private var fileNumber: UInt64? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return UInt64(truncatingIfNeeded: status.st_ino)
  }

  private func check(_ isRight: Bool, _ complaint: @autoclosure () -> String) {
    guard !isRight else { return }
    self.isRight = false
    Issue.record("\(complaint()), \(moment)")
  }
}
