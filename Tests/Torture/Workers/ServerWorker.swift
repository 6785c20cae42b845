import Foundation
import TableStore

/// One process of a server with several, which draws its share of the images.
struct ServerWorker {
  private let folder: TableFolder
  private let number: Int
  /// The entities that it draws, one after the other.
  private let share: Range<Int>
  private let imageCount: Int

  /// - Parameter numbers: Of this worker, of its first image, of the one after its last, and how
  ///   many images the table has room for.
  init(path: String, numbers: [Int]) {
    folder = TableFolder(path: path)
    number = numbers[0]
    share = numbers[1]..<numbers[2]
    imageCount = numbers[3]
  }

  static func ledgerPath(besides folder: TableFolder, worker: Int) -> String {
    folder.path + ".worker-\(worker)"
  }

  /// Draws, and closes the table when the parent has cleared the ledger, or is killed.
  func run() throws -> Int32 {
    let ledger = try Ledger(path: Self.ledgerPath(besides: folder, worker: number))
    let table = try folder.open(slots: imageCount)
    let catalogue = Catalogue(entities: imageCount, versions: 1)
    for entity in share {
      let image = ImageVersion(entity: entity, version: 0)
      ledger.begin(.store, entity: entity)
      try table.store(image, in: catalogue)
      ledger.done()
    }
    ledger.begin(.end)
    // A child that waits for ever has lost its parent.
    for _ in 0..<600_000 where ledger.count > share.count { pause(microseconds: 100) }
    table.close()
    return ChildVerdict.done
  }
}
