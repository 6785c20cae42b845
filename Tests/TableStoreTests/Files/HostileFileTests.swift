import Foundation
import TestSupport
import Testing

@testable import TableStore

@Suite("A damaged or forged table file", .timeLimit(.wholeRun))
struct HostileFileTests {
  let fixture: Fixture
  let layout: TableLayout

  init() throws {
    fixture = try Fixture()
    layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
  }

  /// The bytes of a table with the images 1...5 in its first slots.
  private func wholeFile() throws -> [UInt8] {
    let table = try fixture.open()
    for entity in 1...5 { try table.store(key(entity)) }
    table.close()
    return try fixture.bytes()
  }

  /// Opens the file, checks that each image is right or absent and that the table still works,
  /// and returns the entities that were found.
  @discardableResult
  private func open(_ bytes: [UInt8]) throws -> [Int] {
    try fixture.replaceFile(with: bytes)
    let table = try fixture.open()
    #expect(table.statistics.isOwner)
    let found = (1...5).filter { entity in
      guard let entry = table.entry(for: key(entity)) else { return false }
      #expect(entry.shows(key(entity)))
      return true
    }
    for entity in 1...8 {
      try table.store(key(entity, 2))
      #expect(table.entry(for: key(entity, 2))?.shows(key(entity, 2)) == true)
    }
    table.close()
    return found
  }

  /// Puts a record whose hash is right in the place of a slot's.
  private func forge(
    _ slot: Int, of bytes: inout [UInt8], _ makeRecord: (SlotAddress) -> SlotRecord
  ) throws {
    let header = try #require(TableHeader(reading: Array(bytes.prefix(512))))
    let address = SlotAddress(nonce: header.nonce, slot: slot)
    bytes.replaceSubrange(
      layout.recordOffset(slot)..<layout.recordOffset(slot + 1),
      with: makeRecord(address).bytes(at: address))
  }

  /// A record of an image for the content that a slot has.
  private func record(
    of key: TableKey, for slot: Int, of bytes: [UInt8], at address: SlotAddress
  ) -> SlotRecord {
    let content = Array(bytes[layout.slotOffset(slot)...].prefix(layout.contentByteCount))
    return SlotRecord(
      entity: key.entity.digest, version: key.version.digest, generation: 1 << 60,
      contentHash: content.withUnsafeBytes { SlotContent.hash(of: $0) }, recency: 1, at: address)
  }

  @Test("is begun anew when it is not a table", arguments: [0, 1, 511, 512, 16_384, 100_000])
  func replacesGarbage(count: Int) throws {
    var random = SplitMix64(state: 1)
    let garbage = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    #expect(try open(garbage) == [])
    #expect(try open([UInt8](repeating: 0, count: count)) == [])
  }

  @Test(
    "is begun anew when it comes from another version or byte order, whole in itself",
    arguments: [(8, UInt8(0)), (8, 1), (8, 3), (11, 0xff), (12, 1), (15, 4)])
  func replacesOtherVersions(offset: Int, value: UInt8) throws {
    var bytes = try wholeFile()
    #expect(try open(bytes) == Array(1...5))
    bytes[offset] = value
    let hash = bytes.withUnsafeBytes {
      LaneHash.hash(UnsafeRawBufferPointer(rebasing: $0[..<504]), seed: LaneHash.keys.0)
    }
    withUnsafeBytes(of: hash.littleEndian) { bytes.replaceSubrange(504..<512, with: $0) }
    #expect(try open(bytes) == [])
  }

  @Test("shows no wrong image when it is a copy made during writes")
  func survivesLiveCopies() throws {
    let table = try fixture.open()
    for entity in 1...5 { try table.store(key(entity)) }
    let early = try fixture.bytes()
    _ = try table.remove(key(2).entity)
    try table.store(key(6))
    try table.store(key(1, 2))
    let late = try fixture.bytes()
    table.close()
    // A copy takes its time: it has the old start and the new rest, or the reverse if it is made
    // backwards.
    var foundCount = 0
    for end in stride(from: 512, to: min(early.count, late.count), by: 512) {
      for (start, rest) in [(early, late), (late, early)] {
        foundCount += try open(Array(start[..<end]) + rest[end...]).count
      }
    }
    #expect(foundCount > 0)
  }

  @Test("is begun anew when it is a sparse file of a gigabyte")
  func replacesSparseFiles() throws {
    try fixture.replaceFile(with: [])
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.filePath()))
    try handle.truncate(atOffset: 1 << 30)
    try handle.close()
    let table = try fixture.open()
    try table.store(key(1))
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    #expect(try fixture.bytes().count < 1 << 20)
  }

  @Test("gives the images that were written whole before it was cut")
  func survivesTruncation() throws {
    let bytes = try wholeFile()
    for slot in 0..<5 {
      let whole = layout.slotOffset(slot) + layout.contentByteCount
      #expect(try open(Array(bytes.prefix(whole))) == Array(1...(slot + 1)))
      #expect(try open(Array(bytes.prefix(whole - 1))) == Array((1...(slot + 1)).dropLast()))
    }
    for count in [512, 1000, 16_384, 16_384 + 100, layout.slotOffset(0)] {
      #expect(try open(Array(bytes.prefix(count))) == [])
    }
  }

  @Test("loses the image whose pixels, trailer or record changed, and no other")
  func losesDamagedSlots() throws {
    let bytes = try wholeFile()
    for slot in 0..<5 {
      let others = (1...5).filter { $0 != slot + 1 }
      let inSlot = [
        0, 1, 255, layout.trailerOffset, layout.trailerOffset + 5, layout.trailerOffset + 100,
      ]
      let places =
        inSlot.map { layout.slotOffset(slot) + $0 }
        + [0, 15, 16, 31, 32, 40, 47, 56, 63].map { layout.recordOffset(slot) + $0 }
      for place in places {
        var changed = bytes
        changed[place] ^= 1
        #expect(try open(changed) == others, "byte \(place)")
      }
    }
  }

  @Test("shows no image under a record or in a slot that was moved")
  func bindsSlots() throws {
    let bytes = try wholeFile()
    func moving(_ count: Int, from source: Int, to target: Int) -> [UInt8] {
      var moved = bytes
      moved.replaceSubrange(target..<(target + count), with: bytes[source..<(source + count)])
      return moved
    }
    let records = moving(64, from: layout.recordOffset(0), to: layout.recordOffset(1))
    #expect(try open(records) == [1, 3, 4, 5])
    let slots = moving(
      layout.contentByteCount, from: layout.slotOffset(0), to: layout.slotOffset(1))
    #expect(try open(slots) == [1, 3, 4, 5])
    var both = slots
    both.replaceSubrange(
      layout.recordOffset(1)..<layout.recordOffset(2),
      with: bytes[layout.recordOffset(0)..<layout.recordOffset(1)])
    #expect(try open(both) == [1, 3, 4, 5])
  }

  @Test("shows no image of another table, however whole")
  func bindsTables() throws {
    let first = try wholeFile()
    try FileManager.default.removeItem(atPath: fixture.filePath())
    let second = try wholeFile()
    let mixed = Array(second.prefix(512)) + first.dropFirst(512)
    #expect(try open(mixed) == [])
  }

  @Test("of another table is no file of this one, for its owner and for readers")
  func bindsFiles() throws {
    let other = try wholeFile()
    try fixture.replaceFile("copy", with: other)
    try #expect(fixture.open("copy").present(1...5) == [])
    try fixture.replaceFile("copy", with: other)
    let lock = FileDescriptor(Foundation.open(try fixture.filePath("copy"), O_RDWR))
    try #require(try SystemCalls.live.lock(lock.value))
    let second = try fixture.open("copy")
    #expect(!second.statistics.isOwner)
    #expect((1...5).allSatisfy { second.entry(for: key($0)) == nil })
  }

  @Test("shows no image with an extent beyond its slot, or without a pixel")
  func boundsImages() throws {
    let whole = try wholeFile()
    for (width, height) in [(17, 4), (16, 5), (65535, 65535), (0, 4), (16, 0)] {
      var bytes = whole
      for (offset, value) in [(0, width), (4, height)] {
        let place = layout.slotOffset(1) + layout.trailerOffset + offset
        withUnsafeBytes(of: UInt32(value).littleEndian) {
          bytes.replaceSubrange(place..<(place + 4), with: $0)
        }
      }
      let forged = bytes
      try forge(1, of: &bytes) { record(of: key(2), for: 1, of: forged, at: $0) }
      #expect(try open(bytes) == [1, 3, 4, 5])
    }
  }

  @Test("frees the slot of a record whose hash is right but whose content is not")
  func freesForgedRecords() throws {
    var bytes = try wholeFile()
    for slot in 0..<8 {
      try forge(slot, of: &bytes) { _ in
        SlotRecord(
          entity: key(slot).entity.digest, version: key(slot).version.digest, generation: 1,
          slotHash: 12, recency: 1)
      }
    }
    #expect(try open(bytes) == [])
    // Three were never asked for and had to make room; the others' slots were free.
    let table = try fixture.open()
    #expect((1...8).filter { table.contains(key($0, 2)) } == Array(1...8))
  }

  @Test("shows no image for an id that only shares the digest of the one stored")
  func comparesStoredIDs() throws {
    // A whole slot whose trailer names another entity, bound by right hashes to the digests of 1.
    let whole = try wholeFile()
    var bytes = whole
    try forge(1, of: &bytes) { record(of: key(1), for: 1, of: whole, at: $0) }
    #expect(try open(bytes) == [3, 4, 5])
  }

  @Test("is begun anew when it has no generation left")
  func restartsGenerations() throws {
    var bytes = try wholeFile()
    try forge(4, of: &bytes) { _ in
      SlotRecord(
        entity: key(5).entity.digest, version: key(5).version.digest, generation: .max,
        slotHash: 1, recency: 1)
    }
    #expect(try open(bytes) == [])
    // A table of another capacity is copied, and a copy would have no generation left either.
    try fixture.replaceFile(with: bytes)
    let larger = try fixture.open(slots: 9)
    try larger.store(key(6))
    #expect(larger.present(1...6) == [6])
  }

  @Test("is reported by verify, slot by slot, and not shown again")
  func verifies() throws {
    var bytes = try wholeFile()
    bytes[layout.slotOffset(2) + 7] ^= 1
    bytes[layout.slotOffset(4) + layout.trailerOffset + 100] ^= 1
    try fixture.replaceFile(with: bytes)
    let table = try fixture.open()
    let damages = table.verify()
    #expect(damages.map(\.slot) == [2, 4])
    #expect(damages.map { $0.entity?.description } == ["entity 3", "entity 5"])
    #expect((1...5).filter { table.entry(for: key($0)) != nil } == [1, 2, 4])
    #expect(table.statistics.damageCount == 2)
    try table.flush()
    #expect(table.verify().isEmpty)
  }
}
