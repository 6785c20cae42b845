import TableStore
import TestSupport

/// Some steps of a program on one table, with their writes and their promises.
struct PowerSession {
  static let catalogue = Catalogue(entities: 8, versions: 4)
  static let slots = 5

  let journal: WriteJournal
  private(set) var history = PowerHistory()

  init(stepCount: Int, using random: inout SplitMix64) throws {
    let folder = try TableFolder()
    journal = WriteJournal(path: folder.path)
    let catalogue = Self.catalogue
    let directory = try TableDirectory(path: folder.path, system: journal.system)
    let open = { [journal] in
      try Table(
        name: TableFolder.tableName, in: directory, geometry: TableFolder.geometry,
        capacity: .slots(Self.slots), system: journal.system)
    }
    var table = try open()
    for _ in 0..<stepCount {
      let image = catalogue.randomImage(using: &random)
      let start = journal.count
      var changes: [Int: Int?] = [:]
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<13:
        let insertion = try table.store(image, in: catalogue)
        if let eviction = insertion.eviction {
          // The entity of an evicted image of an earlier session is unknown: it may be any.
          let evicted = eviction.entity.flatMap { catalogue.entity(of: $0) }
          for entity in evicted.map({ [$0] }) ?? Array(history.present.keys) {
            changes[entity] = .some(nil)
          }
        }
        changes[image.entity] = image.version
      case 13..<16:
        _ = try table.remove(catalogue.key(image).entity)
        changes[image.entity] = .some(nil)
      case 16:
        try table.removeAll()
        for entity in history.present.keys { changes[entity] = .some(nil) }
      case 17:
        table.close()
        table = try open()
        // The entity of an evicted image is known only for images that had a hit.
        for image in catalogue.images { _ = table.entry(for: catalogue.key(image)) }
      default:
        try table.flush()
        journal.note(.promised)
        history.promise(at: journal.count)
      }
      history.note(changes, events: start..<journal.count)
    }
    table.close()
  }
}
