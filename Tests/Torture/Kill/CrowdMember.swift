import CommandSupport
import Foundation
import TableStore
import TestSupport

/// One of several processes on one table, whose file may be gone or exchanged at any moment.
struct CrowdMember {
  static let catalogue = Catalogue(entities: 9, versions: 3)
  static let slots = 6

  private let folder: TableFolder
  private let seed: UInt64
  /// The ledger in which it notes that it is at work.
  private let ledger: Ledger

  /// - Parameter numbers: The seed, and which member of the crowd this is.
  init(path: String, numbers: [Int]) throws {
    folder = TableFolder(path: path)
    seed = UInt64(numbers[0])
    ledger = try Ledger(path: Self.ledgerPath(besides: folder, member: numbers[1]))
  }

  static func ledgerPath(besides folder: TableFolder, member: Int) -> String {
    folder.path + ".member-\(member)"
  }

  func run() throws -> Int32 {
    var random = SplitMix64(state: seed)
    let catalogue = Self.catalogue
    var held: [(ImageVersion, TableEntry)] = []
    var table = try folder.open(slots: Self.slots)
    ledger.begin(.open)
    // A child that is not killed in time has lost its parent.
    for _ in 0..<2_000_000 {
      let image = catalogue.randomImage(using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<40: try table.store(image, in: catalogue)
      case 40..<85:
        guard let entry = table.entry(for: catalogue.key(image)) else { break }
        held.append((image, entry))
      case 85..<92: _ = try table.remove(catalogue.key(image).entity)
      case 92: try table.removeAll()
      case 93:
        // Changes that wait for another member are none of the disk's business.
        do { try table.flush() } catch TableError.inUse {}
      case 94..<96:
        table.close()
        table = try folder.open(slots: Self.slots)
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
