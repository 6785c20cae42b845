import CommandSupport
import FastImageCache
import Foundation
import TestSupport

/// The child that keeps, replaces, evicts, continues and removes originals until it is killed; several may share a
/// folder.
struct OriginalWorker {
  /// Faults that a run is to find.
  enum Plant: Int {
    /// A step counts as done before it begins.
    case early = 1
    /// The file of a number gets another's bytes.
    case swapped
    /// The store has a larger limit than it may have.
    case large
  }

  private let folder: OriginalsFolder
  private let ledger: Ledger
  private let plant: Plant?
  private let byteLimit: Int
  private let isAlone: Bool
  private var random: SplitMix64

  /// - Parameter numbers: A plant or 0, the limit, a seed, and which of several children on the folder this is.
  init(path: String, numbers: [Int]) throws {
    folder = OriginalsFolder(path: path)
    (plant, byteLimit) = (Plant(rawValue: numbers[0]), numbers[1])
    random = SplitMix64(state: UInt64(numbers[2]))
    isAlone = numbers[3] == 0
    ledger = try Ledger(path: Self.ledgerPath(folder, member: numbers[3]))
  }

  static func ledgerPath(_ folder: OriginalsFolder, member: Int) -> String {
    folder.ledgerPath + (member == 0 ? "" : "-\(member)")
  }

  mutating func run() async throws -> Int32 {
    var program = try await open()
    // A child that is not killed in time has lost its parent.
    while !ledger.isFull {
      let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
      let version = Int.random(in: OriginalCatalogue.versions, using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50:
        try await step(.store, number, version) { try await keep(number, version, program) }
      case 50..<70:
        // Another process may have put a younger version there, and no other bytes.
        if let bytes = try await program.store.bytes(of: OriginalCatalogue.id(number)),
          OriginalCatalogue.version(of: bytes, number) == nil
        {
          return ChildVerdict.sawWrongImage
        }
      case 70..<80:
        let count = Int.random(in: 1...800_000, using: &random)
        let known = try await step(.adopt, OriginalCatalogue.large, version) {
          try await program.arrive(version, upTo: count)
        }
        if let known, !OriginalCatalogue.isStart(known, OriginalCatalogue.large) {
          return ChildVerdict.sawWrongImage
        }
      case 80..<90:
        try await step(.remove, number) {
          try await program.store.remove(OriginalCatalogue.id(number))
        }
      case 90..<92:
        try await step(.remove, OriginalCatalogue.large) {
          try await program.store.remove(OriginalCatalogue.id(OriginalCatalogue.large))
        }
      case 92 where plant != .large:
        try await step(.reset) { try await program.store.removeAll() }
      case 93..<95: try await step(.flush) { try await program.store.flush() }
      default: program = try await step(.open) { try await open() }
      }
    }
    return ChildVerdict.done
  }

  private func open() async throws -> OriginalProgram {
    try await OriginalProgram(
      folder, byteLimit: plant == .large ? 4 * byteLimit : byteLimit)
  }

  private func keep(_ number: Int, _ version: Int, _ program: OriginalProgram) async throws {
    let other = plant == .swapped ? (number + 1) % OriginalCatalogue.numbers.count : number
    try await program.keep(number, OriginalCatalogue.content(other, version))
  }

  @discardableResult
  private func step<Value>(
    _ step: Ledger.Step, _ number: Int = 0, _ version: Int = 0, _ body: () async throws -> Value
  ) async throws -> Value {
    ledger.begin(step, entity: number, version: version)
    if plant == .early {
      ledger.done()
      pause(microseconds: 1000)
    }
    let value = try await body()
    ledger.done()
    return value
  }
}
