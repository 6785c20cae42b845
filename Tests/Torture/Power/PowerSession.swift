import TableStore
import TestSupport

/// Some steps of a program on one table, with their writes and their promises.
struct PowerSession {
  static let catalogue = Catalogue(entities: 8, versions: 4)
  static let slots = 5

  /// One step, and the events that it caused.
  struct Step {
    let events: Range<Int>
    /// Which version each entity may have afterwards; `nil` is none.
    let changes: [Int: Int?]
  }

  /// The pictures of the table when `flush()` returned.
  struct Promise {
    let event: Int
    let pictures: [Int: Int]
  }

  let journal = WriteJournal()
  private(set) var steps: [Step] = []
  private(set) var promises: [Promise] = []
  private var present: [Int: Int] = [:]

  init(stepCount: Int, using random: inout SplitMix64) throws {
    let folder = try TableFolder()
    let catalogue = Self.catalogue
    // One directory for all openings, so that its descriptor is never reused for a file.
    let directory = try TableDirectory(path: folder.path, system: journal.system)
    let open = { [journal] in
      try Table(
        name: TableFolder.tableName, in: directory, geometry: TableFolder.geometry,
        capacity: .slots(Self.slots), system: journal.system)
    }
    var table = try open()
    for _ in 0..<stepCount {
      let picture = catalogue.randomPicture(using: &random)
      let start = journal.count
      var changes: [Int: Int?] = [:]
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<13:
        let insertion = try table.store(picture, in: catalogue)
        if let eviction = insertion.eviction {
          // The entity of an evicted picture of an earlier session is unknown: it may be any.
          let evicted = eviction.entity.flatMap { catalogue.entity(of: $0) }
          for entity in evicted.map({ [$0] }) ?? Array(present.keys) {
            changes[entity] = .some(nil)
          }
        }
        changes[picture.entity] = picture.version
      case 13..<16:
        _ = try table.remove(catalogue.key(picture).entity)
        changes[picture.entity] = .some(nil)
      case 16:
        try table.removeAll()
        for entity in present.keys { changes[entity] = .some(nil) }
      case 17:
        table.close()
        table = try open()
        // The entity of an evicted picture is known only for pictures that had a hit.
        for picture in catalogue.pictures { _ = table.entry(for: catalogue.key(picture)) }
      default:
        try table.flush()
        journal.note(.promised)
        promises.append(Promise(event: journal.count, pictures: present))
      }
      steps.append(Step(events: start..<journal.count, changes: changes))
      for (entity, version) in changes { present[entity] = version }
    }
    table.close()
  }

  /// The pictures that must be there, and those that may be, when the power goes after so many
  /// events.
  func expectation(at cut: Int) -> PowerExpectation {
    let promise = promises.last { $0.event <= cut }
    let since = promise?.event ?? 0
    var expectation = PowerExpectation(promised: promise?.pictures ?? [:])
    for step in steps where step.events.upperBound > since && step.events.lowerBound < cut {
      for (entity, version) in step.changes { expectation.allow(version, of: entity) }
    }
    return expectation
  }
}

/// The pictures that a table may show after the power went.
struct PowerExpectation {
  private let promised: [Int: Int]
  private var changed: [Int: Set<Int>] = [:]

  init(promised: [Int: Int]) { self.promised = promised }

  mutating func allow(_ version: Int?, of entity: Int) {
    changed[entity, default: []].formUnion(version.map { [$0] } ?? [])
  }

  /// True for promised pictures, and those stored since.
  func allows(_ picture: Picture) -> Bool {
    promised[picture.entity] == picture.version
      || changed[picture.entity]?.contains(picture.version) ?? false
  }

  /// The promised pictures that no step has touched since.
  var covered: [Picture] {
    promised.filter { changed[$0.key] == nil }.map { Picture(entity: $0.key, version: $0.value) }
  }
}
