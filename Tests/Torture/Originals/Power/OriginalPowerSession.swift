import OriginalStore
import TableStore
import TestSupport

/// Some steps of a program on one store of originals, with all that it changes and what it was promised.
struct OriginalPowerSession {
  /// Stand in the history for originals that are large, and for their first blocks.
  static let large = 100
  static let partial = 200

  let journal: WriteJournal
  private(set) var history = PowerHistory()
  private var shelf: OriginalShelf?
  private let folder: OriginalsFolder

  init(stepCount: Int, using random: inout SplitMix64) async throws {
    folder = try OriginalsFolder()
    journal = WriteJournal(path: folder.path)
    await open()
    for _ in 0..<stepCount {
      let start = journal.count
      let changes = try await step(using: &random)
      history.note(changes, events: start..<journal.count)
    }
    shelf = nil
  }

  private mutating func open() async {
    // The one before unlocks the folder as it goes.
    shelf = nil
    let shelf = folder.shelf(OriginalBudget(byteCount: LargeOriginal.budget)) {
      $0.system = journal.system
    }
    await shelf.budget.run { try? shelf.open() }
    self.shelf = shelf
  }

  /// Does something, and returns the versions that changed.
  private mutating func step(using random: inout SplitMix64) async throws -> [Int: Int?] {
    guard let shelf else { return [:] }
    let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
    let version = Int.random(in: OriginalCatalogue.versions, using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<11:
      await shelf.keep(number, version)
      return [number: version]
    case 11..<14:
      try await shelf.perform { shelf throws(TableError) in
        try shelf.remove(OriginalCatalogue.key(number))
      }
      return [number: nil]
    case 14:
      try await shelf.perform { shelf throws(TableError) in try shelf.removeAll() }
      return history.present.mapValues { _ in nil }
    case 15:
      await open()
      return [:]
    case 16..<18:
      return try await stepOfLarge(version, on: shelf, using: &random)
    default:
      try await shelf.perform { shelf throws(TableError) in try shelf.flush() }
      journal.note(.promised)
      history.promise(at: journal.count)
      return [:]
    }
  }

  private mutating func stepOfLarge(
    _ version: Int, on shelf: OriginalShelf, using random: inout SplitMix64
  ) async throws -> [Int: Int?] {
    let number = Int.random(in: LargeOriginal.numbers, using: &random)
    let source = LargeOriginal(
      number, version, arrived: .random(in: 1...2, using: &random), on: shelf)
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      let (load, start) = (shelf.load(source), journal.count)
      await shelf.write(source, for: load)
      history.note([Self.partial + number: version], events: start..<journal.count)
      await shelf.finish(source, for: load)
      return [Self.large + number: version, Self.partial + number: nil]
    case 1:
      try await shelf.perform { shelf throws(TableError) in try shelf.remove(source.key) }
      return [Self.large + number: nil, Self.partial + number: nil]
    default:
      await shelf.leave(source)
      return [Self.partial + number: version]
    }
  }
}
