import Foundation
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("The index of a folder of originals", .timeLimit(.minutes(10)))
struct IndexFileTests {
  private let originals: Originals
  private let folder: OriginalFolder

  init() throws {
    originals = try Originals()
    folder = try originals.open()
  }

  /// Writes an index with records at the places 0, 2 and 3, and gives it up.
  private func fill() throws {
    let index = try #require(try folder.ownIndex())
    for place in [0, 1, 2, 3] { try index.write(record(place), at: place) }
    try index.clear(1)
  }

  private func found() throws -> [OriginalRecord] {
    try #require(try folder.ownIndex()).records.map(\.record)
  }

  private var filled: [OriginalRecord] { [0, 2, 3].map { record($0) } }

  @Test("begins with a header and has 128 bytes for each record, byte for byte")
  func layout() throws {
    try fill()
    let file = try originals.bytes(IndexFile.name)
    #expect(file.count == 5 * 128)
    #expect(IndexFile.byteCount(upTo: 3) == file.count)
    #expect(Array(file.prefix(16)) == Array("FICindex".utf8) + [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(file[24..<120]) == [UInt8](repeating: 0, count: 96))
    #expect(Array(file[256..<384]) == [UInt8](repeating: 0, count: 128))
    let third = Array(file[384..<512])
    let digest = originalKey(2).digest
    var expected: [UInt8] = []
    for number in [digest.low, digest.high, 2, 1, UInt64(bitPattern: -5)] { expected.put(number) }
    for number: UInt32 in [3100, .max, 20, 10, 7, 1, 2, 3] { expected.put(number) }
    #expect(Array(third.prefix(72)) == expected)
    #expect(Array(third[72..<120]) == [UInt8](repeating: 0, count: 48))
    // A record lies within one sector.
    #expect(512 % IndexFile.recordByteCount == 0)
  }

  @Test("gives its records back by place, also the overwritten and without the cleared")
  func keeps() throws {
    try fill()
    let index = try #require(try folder.ownIndex())
    #expect(index.records.map(\.place) == [0, 2, 3])
    #expect(index.records.map(\.record) == filled)
    try index.write(record(9, 9), at: 2)
    #expect(try folder.readIndex().map(\.record) == [record(0), record(9, 9), record(3)])
    // That a use was not written yet is known to this process only.
    var used = record(9, 9)
    used.flags.insert(.isUsed)
    try index.write(used, at: 2)
    #expect(try folder.readIndex().map(\.record)[1] == record(9, 9))
  }

  @Test("has one owner at a time, of this process or another")
  func hasOneOwner() throws {
    var index = try folder.ownIndex()
    #expect(index != nil)
    #expect(try folder.ownIndex() == nil)
    #expect(try originals.open().ownIndex() == nil)
    index = nil
    #expect(try originals.open().ownIndex() != nil)
  }

  @Test("gives all records of a file that is read by pieces")
  func isLong() throws {
    try originals.put(Self.long, IndexFile.name)
    let places = Array(try folder.readIndex())
    #expect(places.map(\.place) == Self.longPlaces)
    #expect(places.map(\.record) == Self.longPlaces.map { record($0) })
  }

  @Test("gives the records before a cut that happens while it is read")
  func isCutMeanwhile() throws {
    try originals.put(Self.long, IndexFile.name)
    var hints = try folder.readIndex()
    #expect(truncate(originals.path + "/" + IndexFile.name, off_t(3000 * 128 + 5)) == 0)
    var found: [OriginalRecord] = []
    while let (_, record) = hints.next() { found.append(record) }
    #expect(found == Self.longPlaces.filter { $0 < 2999 }.map { record($0) })
    #expect(hints.failure == nil)
  }

  @Test("gives the records before a part that cannot be read, and says so")
  func failsMeanwhile() throws {
    try originals.put(Self.long, IndexFile.name)
    let failing = try OriginalFolder(
      path: originals.path,
      system: SystemCalls { call throws(SystemError) in
        if call.kind == .read, call.offset > 0 { throw SystemError(call: .read, code: EIO) }
      })
    var hints = try failing.readIndex()
    var found: [OriginalRecord] = []
    while let (_, record) = hints.next() { found.append(record) }
    #expect(found == Self.longPlaces.filter { $0 < 2047 }.map { record($0) })
    #expect(hints.failure != nil)
  }

  /// Every third place is free.
  private static let longPlaces = (0..<5000).filter { $0 % 3 != 2 }

  private static let long: [UInt8] = {
    let free = [UInt8](repeating: 0, count: IndexFile.recordByteCount)
    return (0..<5000).reduce(into: IndexContents.header(nonce: 7)) { bytes, place in
      bytes += place % 3 == 2 ? free : IndexContents.bytes(of: record(place), at: place, 7)
    }
  }()

  @Test("takes no record that was changed, torn or moved to another place")
  func noticesChanges() throws {
    try fill()
    let file = try originals.bytes(IndexFile.name)
    for index in 128..<file.count {
      var changed = file
      changed[index] ^= UInt8(1) << UInt8(index % 8)
      try originals.put(changed, IndexFile.name)
      let place = index / 128 - 1
      #expect(try found() == filled.filter { $0 != record(place) }, "byte \(index)")
    }
    var moved = file
    moved.replaceSubrange(256..<384, with: file[128..<256])
    try originals.put(moved, IndexFile.name)
    #expect(try found() == filled)
  }

  @Test("is cut anywhere, and has the whole records before the cut")
  func isCut() throws {
    try fill()
    let file = try originals.bytes(IndexFile.name)
    for count in 0..<file.count {
      try originals.put(Array(file.prefix(count)), IndexFile.name)
      #expect(try found() == [0, 2, 3].filter { ($0 + 2) * 128 <= count }.map { record($0) })
    }
  }

  enum Damage: String, CaseIterable {
    case empty, zeros, garbage, other, newer, headerByte, tooLong
  }

  @Test(
    "counts as empty and is made anew when it is no index of this version",
    arguments: Damage.allCases)
  func isMadeAnew(damage: Damage) throws {
    try fill()
    var file = try originals.bytes(IndexFile.name)
    var random = SplitMix64(state: 1)
    switch damage {
    case .empty: file = []
    case .zeros: file = [UInt8](repeating: 0, count: file.count)
    case .garbage: file = file.map { _ in UInt8.random(in: .min ... .max, using: &random) }
    case .other: file.replaceSubrange(0..<128, with: IndexContents.header(nonce: 5))
    case .newer: file[8] = 2
    case .headerByte: file[16] ^= 1
    case .tooLong: break
    }
    try originals.put(file, IndexFile.name)
    if damage == .tooLong {
      let path = originals.path + "/" + IndexFile.name
      #expect(truncate(path, off_t(IndexContents.maximumByteCount + 1)) == 0)
    }
    #expect(try folder.readIndex().map(\.record).isEmpty)
    let index = try #require(try folder.ownIndex())
    #expect(index.records.isEmpty)
    try index.write(record(5), at: 1)
    #expect(try folder.readIndex().map(\.record) == [record(5)])
  }

  @Test("does not remember records of the file that it replaced")
  func drawsNonces() throws {
    try fill()
    let first = try originals.bytes(IndexFile.name)
    try originals.put([1], IndexFile.name)
    _ = try folder.ownIndex()
    let second = try originals.bytes(IndexFile.name)
    #expect(first.prefix(128) != second.prefix(128))
    try originals.put(second + first.dropFirst(128), IndexFile.name)
    #expect(try found().isEmpty)
  }

  @Test("is not owned by whoever locked a file that lost its name")
  func checksName() throws {
    try fill()
    let path = originals.path
    // Between opening and locking, another process replaces the file, once.
    let turns = Counter()
    let system = SystemCalls { call throws(SystemError) in
      guard call.kind == .lock, turns.increment() == 1 else { return }
      _ = unlink(path + "/" + IndexFile.name)
    }
    let index = try #require(try originals.open(system).ownIndex())
    #expect(index.records.isEmpty)
    #expect(try index.isInPlace())
    #expect(turns.value == 2)
  }
}
