import CommandSupport
import Foundation
import TableStore
import TestSupport

/// The child that does everything in random order until it is killed.
struct KillMix {
  static let catalogue = Catalogue(entities: 9, versions: 3)
  static let capacities = [6, 8]

  private let folder: TableFolder
  private let seed: UInt64

  init(path: String, seed: Int) throws {
    folder = TableFolder(path: path)
    self.seed = UInt64(seed)
  }

  func run() throws -> Int32 {
    let ledger = try Ledger(path: KillScript.ledgerPath(besides: folder))
    var random = SplitMix64(state: seed)
    let catalogue = Self.catalogue
    var worker = TableWorker(folder: folder, catalogue: catalogue, ledger: ledger)
    var held: [(ImageVersion, TableEntry)] = []
    let pick = { (random: inout SplitMix64) in
      Self.capacities[Int.random(in: 0..<Self.capacities.count, using: &random)]
    }
    try worker.open(slots: pick(&random))
    while !ledger.isFull {
      let image = catalogue.randomImage(using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<55: try worker.store(image)
      case 55..<75:
        if let entry = worker.table?.entry(for: catalogue.key(image)) {
          held.append((image, entry))
        }
      case 75..<90: try worker.remove(image.entity)
      case 90..<92: try worker.reset()
      case 92..<95: try worker.flush()
      case 95..<98:
        // Leases go on meanwhile, so that the file may be one that this process has locked.
        try worker.close()
        try worker.open(slots: pick(&random))
      default: held = []
      }
      if held.count > 2 { held.removeFirst() }
      for (image, entry) in held where !entry.shows(image) {
        return ChildVerdict.sawWrongImage
      }
    }
    return ChildVerdict.done
  }
}
