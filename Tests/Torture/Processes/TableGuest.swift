import TableStore
import TestSupport

/// The child that stores images beside an owner without pause.
struct TableGuest {
  private let folder: TableFolder
  private let seed: UInt64

  init(path: String, seed: Int) {
    folder = TableFolder(path: path)
    self.seed = UInt64(seed)
  }

  func run() throws -> Int32 {
    let ledger = try Ledger(path: TableOwner.ledgerPath(besides: folder))
    var random = SplitMix64(state: seed)
    let table = try folder.open(slots: TableOwner.slots, geometry: TableOwner.geometry)
    let catalogue = TableOwner.catalogue
    // A child that is not killed in time has lost its parent.
    while !ledger.isFull {
      let image = catalogue.randomImage(using: &random)
      ledger.begin(.store, entity: image.entity)
      try table.store(image, in: catalogue)
      if table.statistics.isOwner { return ChildVerdict.failed }
      ledger.done()
    }
    return ChildVerdict.done
  }
}
