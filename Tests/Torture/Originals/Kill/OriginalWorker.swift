import CommandSupport
import Foundation
import Locking
import OriginalStore
import TableStore
import TestSupport

/// The child that keeps, replaces, evicts and removes originals: in a fixed order, dying at one certain
/// call to the system, or in random order until it is killed.
struct OriginalWorker {
  /// Faults that a run is to find.
  struct Plants: OptionSet {
    let rawValue: Int
    static let none: Plants = []
    /// A keep counts as done before its file is written.
    static let early = Plants(rawValue: 1)
    /// The file of a number gets another's bytes.
    static let swapped = Plants(rawValue: 2)
    /// The store has a larger budget than it may have.
    static let large = Plants(rawValue: 4)
    /// The others are for downloads that break off.
    static let partials = Plants(rawValue: 8)
  }

  /// The call at which the process dies.
  struct Death {
    let call: Int
    /// After half of the bytes of a write.
    let isMidway: Bool
  }

  private let folder: OriginalsFolder
  private let ledger: Ledger
  private let plants: Plants
  private let isTight: Bool
  private var system = SystemCalls.live
  private let callCount = Lock(0)
  private var random: SplitMix64
  private var shelf: OriginalShelf?

  /// - Parameter numbers: Plants, 1 for the small budget, and a seed; or a call and 1 to die in it.
  init(path: String, numbers: [Int]) throws {
    folder = OriginalsFolder(path: path)
    ledger = try Ledger(path: folder.ledgerPath)
    (plants, isTight) = (Plants(rawValue: numbers[0]), numbers[1] == 1)
    random = SplitMix64(state: UInt64(numbers[2]))
    guard numbers.count > 3 else { return }
    system = Self.dying(Death(call: numbers[2], isMidway: numbers[3] == 1), counting: callCount)
  }

  /// All in a fixed order.
  mutating func runScript() async throws -> Int32 {
    try await open()
    for number in 0..<8 { await keep(number, 1) }
    await keep(2, 2)
    try await remove(3)
    await keep(9, 1)
    guard try isRight(2) else { return ChildVerdict.sawWrongPicture }
    try await flush()
    try await removeAll()
    for number in 4..<7 { await keep(number, 3) }
    try await open()
    for number in 0..<7 { await keep(number, 4) }
    try await remove(6)
    try await open()
    await keep(11, 1)
    // Tells how many calls there are to die at.
    ledger.begin(.end, entity: callCount.withLock { $0 })
    return ChildVerdict.done
  }

  /// Two downloads that break off, go on in another session, are finished and removed. The numbers of
  /// blocks stand in the ledger as versions.
  mutating func runPartials() async throws -> Int32 {
    for version in 1...2 {
      try await open(LargeOriginal.budget)
      if let shelf { await arrive(blocks: 1, version, on: shelf) }
      try await open(LargeOriginal.budget)
      guard let shelf else { break }
      await arrive(blocks: 2, version, on: shelf)
      ledger.begin(.store, entity: version)
      let source = LargeOriginal(0, version, on: shelf)
      let load = shelf.load(source)
      await shelf.write(source, for: load)
      await shelf.finish(source, for: load)
      ledger.done()
      guard version == 1 else { break }
      ledger.begin(.remove)
      try await shelf.perform { shelf throws(TableError) in try shelf.remove(source.key) }
      ledger.done()
    }
    ledger.begin(.end, entity: callCount.withLock { $0 })
    return ChildVerdict.done
  }

  private func arrive(blocks: Int, _ version: Int, on shelf: OriginalShelf) async {
    ledger.begin(.adopt, entity: version, version: blocks)
    if plants.contains(.early) {
      ledger.done()
      if blocks == 1 { kill(getpid(), SIGKILL) }
    }
    var source = LargeOriginal(0, version, arrived: blocks, on: shelf)
    if plants.contains(.swapped) { source.comesFromVersion = version + 1 }
    await shelf.leave(source)
    ledger.done()
  }

  /// All in random order.
  mutating func runMix() async throws -> Int32 {
    try await open()
    // Without removals the folder is full soon.
    let kinds = plants.contains(.large) ? 0..<80 : 0..<100
    // A child that is not killed in time has lost its parent.
    while !ledger.isFull {
      let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
      switch Int.random(in: kinds, using: &random) {
      case 0..<60: await keep(number, .random(in: OriginalCatalogue.versions, using: &random))
      case 60..<80: if try !isRight(number) { return ChildVerdict.sawWrongPicture }
      case 80..<92: try await remove(number)
      case 92: try await removeAll()
      case 93..<96: try await flush()
      default: try await open()
      }
    }
    return ChildVerdict.done
  }

  // MARK: Steps

  private mutating func open(_ byteCount: Int? = nil) async throws {
    ledger.begin(.open)
    // The one before unlocks the folder as it goes.
    shelf = nil
    let isLarge = plants.contains(.large)
    let bytes =
      byteCount ?? (isTight ? OriginalCatalogue.tightBudget : OriginalCatalogue.wideBudget)
    let shelf = folder.shelf(OriginalBudget(byteCount: isLarge ? 4 * bytes : bytes)) {
      $0.system = system
    }
    await shelf.budget.run { try? shelf.open() }
    self.shelf = shelf
    ledger.done()
  }

  private func keep(_ number: Int, _ version: Int) async {
    ledger.begin(.store, entity: number, version: version)
    if plants.contains(.early) {
      ledger.done()
      pause(microseconds: 1000)
    }
    let other = plants.contains(.swapped) ? OriginalCatalogue.content(number + 1, version) : nil
    await shelf?.keep(number, version, content: other)
    ledger.done()
  }

  private func remove(_ number: Int) async throws {
    ledger.begin(.remove, entity: number)
    try await shelf?.perform { shelf throws(TableError) in
      try shelf.remove(OriginalCatalogue.key(number))
    }
    ledger.done()
  }

  private func removeAll() async throws {
    ledger.begin(.reset)
    try await shelf?.perform { shelf throws(TableError) in try shelf.removeAll() }
    ledger.done()
  }

  private func flush() async throws {
    ledger.begin(.flush)
    try await shelf?.perform { shelf throws(TableError) in try shelf.flush() }
    ledger.done()
  }

  private func isRight(_ number: Int) throws -> Bool {
    let kept = try shelf?.read(OriginalCatalogue.key(number))
    return kept.map { OriginalCatalogue.version(of: $0, number) != nil } ?? true
  }

  /// Calls of which one ends the process.
  private static func dying(_ death: Death, counting count: Lock<Int>) -> SystemCalls {
    SystemCalls { call throws(SystemError) in
      let own = count.withLock { count in
        count += 1
        return count - 1
      }
      guard own == death.call else { return }
      if death.isMidway, let bytes = call.bytes {
        _ = pwrite(call.descriptor, bytes.baseAddress, bytes.count / 2, off_t(call.offset))
      }
      kill(getpid(), SIGKILL)
    }
  }
}
