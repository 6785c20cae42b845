import CInterposer
import CommandSupport
import Foundation
import TableStore
import TestSupport

/// The child that owns a table and writes to it without pause.
struct TableOwner {
  /// One version of each image, so that a refused slot was torn.
  static let catalogue = Catalogue(entities: 14, versions: 1)
  /// The images that no owner stores. An image of the reading process that its owner stored again
  /// keeps the owner's place in the order of use, and may be evicted rightly.
  static let readersOwn = ImageVersion(entity: 12, version: 0)
  static let readersNext = ImageVersion(entity: 13, version: 0)
  static let slots = 4
  /// Large enough that a writer is often met in the midst of a slot.
  static let geometry = TableGeometry(width: 128, height: 256, rowByteCount: 512, pixelFormat: 1)

  private let folder: TableFolder
  private let seed: UInt64

  /// - Parameter numbers: The seed, and 1 to plant locks that several processes get.
  init(path: String, numbers: [Int]) throws {
    folder = TableFolder(path: path)
    seed = UInt64(numbers[0])
    interposer_grant_locks(Int32(numbers[1]))
  }

  static func ledgerPath(besides folder: TableFolder) -> String { folder.path + ".owner" }

  func run() throws -> Int32 {
    let ledger = try Ledger(path: Self.ledgerPath(besides: folder))
    var random = SplitMix64(state: seed)
    let table = try folder.open(slots: Self.slots, geometry: Self.geometry)
    guard table.statistics.isOwner else { return ChildVerdict.failed }
    let sealed = try Self.catalogue.images
      .filter { ![Self.readersOwn, Self.readersNext].contains($0) }
      .map { try table.seal($0, in: Self.catalogue) }
    ledger.begin(.open)
    // A child that is not killed in time has lost its parent.
    for _ in 0..<20_000_000 {
      guard let image = sealed.randomElement(using: &random) else { break }
      _ = try table.insert(image)
    }
    return ChildVerdict.done
  }
}
