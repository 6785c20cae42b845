import CInterposer
import CommandSupport
import Foundation
import TableStore

/// The child that dies at one certain system call: it stores, replaces, evicts, removes, renames, empties,
/// flushes and opens again, always in the same way.
struct KillScript {
  static let catalogue = Catalogue(entities: 6, versions: 4)
  static let slots = 3

  private let folder: TableFolder
  private let call: Int
  private let part: interposer_part
  private let isReversed: Bool

  /// - Parameter numbers: The call to die at, the part of it, and 1 to write records before content.
  init(path: String, numbers: [Int]) throws {
    folder = TableFolder(path: path)
    call = numbers[0]
    part = interposer_part(UInt32(numbers[1]))
    isReversed = numbers[2] == 1
  }

  func run() throws -> Int32 {
    let ledger = try Ledger(path: Self.ledgerPath(besides: folder))
    interposer_reset()
    interposer_kill_at(call, part)
    if isReversed {
      interposer_reverse_writes(TableFolder.contentByteCount, TableFolder.recordByteCount)
    }
    var worker = TableWorker(folder: folder, catalogue: Self.catalogue, ledger: ledger)
    try worker.open(slots: Self.slots)
    for entity in 0..<5 { try worker.store(ImageVersion(entity: entity, version: 1)) }
    try worker.store(ImageVersion(entity: 4, version: 2))
    try worker.remove(3)
    try worker.adopt(ImageVersion(entity: 2, version: 2))
    try worker.store(ImageVersion(entity: 0, version: 2))
    try worker.flush()
    try worker.reset()
    for entity in 1..<4 { try worker.store(ImageVersion(entity: entity, version: 3)) }
    try worker.close()
    try worker.open(slots: 5)
    for entity in 0..<5 { try worker.store(ImageVersion(entity: entity, version: 0)) }
    try worker.close()
    try worker.open(slots: 2)
    try worker.store(ImageVersion(entity: 5, version: 1))
    try worker.close()
    interposer_reset()
    return ChildVerdict.done
  }

  static func ledgerPath(besides folder: TableFolder) -> String { folder.path + ".ledger" }
}

/// Changes a table and keeps a ledger of the changes.
struct TableWorker {
  let folder: TableFolder
  let catalogue: Catalogue
  let ledger: Ledger
  private(set) var table: Table?

  init(folder: TableFolder, catalogue: Catalogue, ledger: Ledger) {
    self.folder = folder
    self.catalogue = catalogue
    self.ledger = ledger
  }

  mutating func open(slots: Int) throws {
    ledger.begin(.open, entity: slots)
    table = try folder.open(slots: slots)
    ledger.done()
  }

  func store(_ image: ImageVersion) throws {
    ledger.begin(.store, entity: image.entity, version: image.version)
    guard let eviction = try table?.store(image, in: catalogue).eviction else {
      ledger.done()
      return
    }
    let entity = eviction.entity.map { catalogue.entity(of: $0) ?? -2 } ?? -2
    ledger.done(evicted: Int32(entity))
  }

  func remove(_ entity: Int) throws {
    ledger.begin(.remove, entity: entity)
    _ = try table?.remove(catalogue.key(ImageVersion(entity: entity, version: 0)).entity)
    ledger.done()
  }

  /// Stores an image under an id of its own, and then gives it to its entity.
  func adopt(_ image: ImageVersion) throws {
    guard let table else { return }
    ledger.begin(.adopt, entity: image.entity, version: image.version)
    let key = catalogue.key(image)
    let first = TableKey(entity: TableID("first"), version: key.version)
    _ = try table.insert(table.seal(image, as: first))
    _ = try table.changeEntity(from: first.entity, to: key.entity)
    ledger.done()
  }

  func reset() throws {
    ledger.begin(.reset)
    try table?.removeAll()
    ledger.done()
  }

  func flush() throws {
    ledger.begin(.flush)
    try table?.flush()
    ledger.done()
  }

  mutating func close() throws {
    ledger.begin(.close)
    table?.close()
    table = nil
    ledger.done()
  }
}
