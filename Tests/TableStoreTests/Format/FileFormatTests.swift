import Testing

@testable import TableStore

@Suite("A table header", .timeLimit(.wholeRun))
struct TableHeaderTests {
  private let header: TableHeader

  init() throws {
    header = TableHeader(
      layout: try TableLayout(geometry: Fixture.geometry, capacity: .slots(9)), nonce: 77,
      name: "rows é")
  }

  @Test("keeps the revision of the images")
  func keepsRevision() throws {
    let geometry = TableGeometry(
      width: 16, height: 4, rowByteCount: 64, pixelFormat: 7, revision: 0xDEAD_BEEF)
    let revised = TableHeader(
      layout: try TableLayout(geometry: geometry, capacity: .slots(9)), nonce: 77, name: "rows é")
    #expect(TableHeader(reading: revised.bytes) == revised && revised.bytes.count == 512)
    #expect(revised.bytes[36..<40].elementsEqual([0xEF, 0xBE, 0xAD, 0xDE]))
    #expect(header.bytes[36..<40].allSatisfy { $0 == 0 })
  }

  @Test("is refused when any bit of it differs")
  func refusesChanges() {
    for index in header.bytes.indices {
      for bit in 0..<8 {
        var bytes = header.bytes
        bytes[index] ^= 1 << UInt8(bit)
        #expect(TableHeader(reading: bytes) == nil)
      }
    }
  }

  @Test("is refused with a right hash but offsets of its own", arguments: [40, 48, 56, 64, 80, 88])
  func refusesForgedOffsets(offset: Int) {
    var bytes = header.bytes
    bytes[offset] ^= 0x40
    let hash = bytes.withUnsafeBytes {
      LaneHash.hash(UnsafeRawBufferPointer(rebasing: $0[..<504]), seed: LaneHash.keys.0)
    }
    withUnsafeBytes(of: hash.littleEndian) { bytes.replaceSubrange(504..., with: $0) }
    #expect(TableHeader(reading: bytes) == nil)
  }
}

@Suite("A slot record", .timeLimit(.wholeRun))
struct SlotRecordTests {
  private let address = SlotAddress(nonce: 11, slot: 3)
  private let record = SlotRecord(
    entity: TableID("e").digest, version: TableID("s").digest, generation: 4, contentHash: 99,
    recency: 5, at: SlotAddress(nonce: 11, slot: 3))

  private func read(_ bytes: [UInt8], at address: SlotAddress) -> SlotRecord? {
    bytes.withUnsafeBytes { SlotRecord(reading: $0, at: address) }
  }

  @Test("is refused when any bit outside its recency differs")
  func refusesChanges() {
    for index in 0..<64 {
      var bytes = record.bytes(at: address)
      bytes[index] ^= 0x10
      #expect((read(bytes, at: address) == nil) == !(48..<56).contains(index))
    }
  }

  @Test("covers one content, at one slot address, of one generation and key")
  func bindsContent() {
    #expect(record.covers(contentHash: 99, at: address))
    #expect(!record.covers(contentHash: 98, at: address))
    #expect(!record.covers(contentHash: 99, at: SlotAddress(nonce: 11, slot: 2)))
    #expect(!record.covers(contentHash: 99, at: SlotAddress(nonce: 12, slot: 3)))
    let later = SlotRecord(
      entity: record.entity, version: record.version, generation: 5, slotHash: record.slotHash,
      recency: 5)
    #expect(!later.covers(contentHash: 99, at: address))
    for (entity, version) in [("e", "t"), ("f", "s")] {
      let other = SlotRecord(
        entity: TableID(entity).digest, version: TableID(version).digest, generation: 4,
        slotHash: record.slotHash, recency: 5)
      #expect(!other.covers(contentHash: 99, at: address))
    }
  }

  @Test("is none when it is free")
  func refusesFree() {
    #expect(read([UInt8](repeating: 0, count: 64), at: address) == nil)
    let free = SlotRecord(
      entity: record.entity, version: record.version, generation: 0, slotHash: 1, recency: 1)
    #expect(read(free.bytes(at: address), at: address) == nil)
  }
}

@Suite("A slot trailer", .timeLimit(.wholeRun))
struct SlotTrailerTests {
  private func written(_ trailer: SlotTrailer, room: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xaa, count: room)
    bytes.withUnsafeMutableBytes { trailer.write(to: $0) }
    return bytes
  }

  private func read(_ bytes: [UInt8]) -> SlotTrailer? {
    bytes.withUnsafeBytes { SlotTrailer(reading: $0) }
  }

  private func trailer(
    _ entity: String, _ version: String, metadata: [UInt8] = [], room: Int = 128
  ) throws(TableError) -> SlotTrailer {
    try SlotTrailer(
      entity: .full(TableID(entity)), version: .full(TableID(version)),
      extent: SlotExtent(width: 65_535, height: 1), metadata: metadata, roomByteCount: room)
  }

  @Test("hashes the longer id first, and both when that is not enough")
  func hashesLongIDs() throws {
    let long = String(repeating: "l", count: 110)
    let one = try trailer("entity", long)
    #expect(one.entity == .full(TableID("entity")))
    #expect(one.version == .hashing(TableID(long)))
    let both = try trailer(long + "1", long + "2")
    #expect(both.entity == .hashing(TableID(long + "1")))
    #expect(both.version == .hashing(TableID(long + "2")))
    #expect(read(written(both, room: 128)) == both)
    #expect(both.matches(TableKey(entity: TableID(long + "1"), version: TableID(long + "2"))))
    #expect(!both.matches(TableKey(entity: TableID(long + "1"), version: TableID(long + "3"))))
  }

  @Test("keeps ids of any length", arguments: [8_191, 8_192, 100_000])
  func keepsHugeIDs(count: Int) throws {
    let huge = String(repeating: "h", count: count)
    let trailer = try trailer(huge, huge, room: 300_000)
    #expect(trailer.matches(TableKey(entity: TableID(huge), version: TableID(huge))))
    #expect(read(written(trailer, room: 300_000)) == trailer)
  }

  @Test("takes metadata up to its limit and names the limit")
  func limitsMetadata() throws {
    let fits = [UInt8](repeating: 7, count: 128 - 16 - 2)
    #expect(try read(written(trailer("e", "s", metadata: fits), room: 128))?.metadata == fits)
    #expect(throws: TableError.metadataTooLarge(byteCount: 111, limit: 110)) {
      try trailer("e", "s", metadata: fits + [7])
    }
  }

  @Test("is refused when its lengths lead out of its room")
  func refusesLengths() throws {
    let bytes = written(try trailer("entity", "source", metadata: [1]), room: 128)
    for offset in [9, 11, 13, 14, 15] {
      var forged = bytes
      forged[offset] |= 0x1f
      #expect(read(forged) == nil)
    }
    #expect(read(Array(bytes.prefix(15))) == nil)
    #expect(read([]) == nil)
  }

  @Test("has the marks of its version, and the digest of the version that they are about")
  func hasMarks() throws {
    let version = TableID("source")
    let marked: [(TableID, UInt32)] = [
      (version, 0), (version.placeholder, 1), (version.damaged, 2),
      (version.placeholder.damaged, 3), (version.damaged.placeholder, 3),
    ]
    for (version, marks) in marked {
      let key = TableKey(entity: TableID("entity"), version: version)
      let trailer = try SlotTrailer(
        entity: .full(key.entity), version: .full(key.version),
        extent: SlotExtent(width: 3, height: 2), metadata: [1], roomByteCount: 128)
      var bytes = written(trailer, room: 128)
      #expect(bytes.withUnsafeBytes { $0.load(fromByteOffset: 4, as: UInt32.self) } == marks)
      #expect(bytes[11] >> 5 == (marks == 0 ? 0 : 4))
      #expect(read(bytes) == trailer && trailer.matches(key))
      for other in 0..<4 where other != marks {
        bytes[4] = UInt8(other)
        #expect(read(bytes)?.matches(key) != true)
        #expect(read(bytes)?.version != trailer.version)
      }
    }
  }

  @Test("tells the size of the source where there is room, and is what it was otherwise")
  func hasSource() throws {
    let source = SourceExtent(width: 70_000, height: 3)
    func trailer(_ source: SourceExtent?, metadata: Int) throws -> SlotTrailer {
      try SlotTrailer(
        entity: .full(TableID("e")), version: .full(TableID("s")),
        extent: SlotExtent(width: 2, height: 1), source: source,
        metadata: [UInt8](repeating: 7, count: metadata), roomByteCount: 128)
    }
    let told = try trailer(source, metadata: 102)
    let bytes = written(told, room: 128)
    #expect(told.source == source && read(bytes) == told)
    #expect(Array(bytes[4..<8]) == [0, 1, 0, 0])
    #expect(Array(bytes[16..<24]) == [0x70, 0x11, 1, 0, 3, 0, 0, 0])
    let full = try trailer(source, metadata: 103)
    #expect(full == (try trailer(nil, metadata: 103)) && read(written(full, room: 128)) == full)
  }

  @Test("is read without the fields of later versions, and not with unknown marks")
  func skipsFields() throws {
    let trailer = try trailer("entity", "source", metadata: [1, 2])
    let bytes = written(trailer, room: 128)
    for (fields, count) in [(0, 0), (1, 1), (0x80, 1), (0x0f, 4)] {
      var longer = bytes[..<16] + [UInt8](repeating: 9, count: count * 8) + bytes[16...]
      longer[5] = UInt8(fields)
      let found = read(Array(longer.prefix(128)))
      #expect(found?.entity == trailer.entity && found?.version == trailer.version)
      #expect(found?.extent == trailer.extent && found?.metadata == trailer.metadata)
      #expect((found?.source != nil) == (fields & 1 == 1))
    }
    for offset in [4, 6, 7] {
      var unknown = bytes
      unknown[offset] = 4
      #expect(read(unknown) == nil)
    }
    var short = bytes
    short[5] = 0xff
    #expect(read(Array(short.prefix(40))) == nil)
  }
}

@Suite("A table layout", .timeLimit(.wholeRun))
struct TableLayoutTests {
  private static func geometry(rows: Int, rowBytes: Int) -> TableGeometry {
    TableGeometry(width: 1, height: rows, rowByteCount: rowBytes, pixelFormat: 0)
  }

  /// Every byte count of pixels up to 32 KiB, and a sample of larger ones.
  private static let sizes = Array(1...512) + stride(from: 513, to: 100_000, by: 331)

  @Test("wastes no more of a file than it promises")
  func boundsWaste() throws {
    for units in Self.sizes where units <= 65_535 {
      let geometry = Self.geometry(rows: units, rowBytes: 64)
      let layout = try TableLayout(geometry: geometry, capacity: .slots(100))
      let pixels = units * 64
      let perSlot = layout.stride + TableLayout.recordByteCount
      if pixels >= 16_384 {
        #expect(perSlot * 4 <= pixels * 5)
      } else if pixels >= 192 {
        #expect(perSlot <= pixels * 2)
      } else {
        #expect(perSlot <= 384)
      }
      #expect(layout.fileByteCount - 100 * perSlot < 32_768)
    }
  }

  @Test("leaves room for ids and keeps slots, records and header apart")
  func keepsApart() throws {
    for units in Self.sizes where units <= 65_535 {
      let layout = try TableLayout(
        geometry: Self.geometry(rows: units, rowBytes: 64), capacity: .slots(300))
      #expect(layout.trailerOffset == units * 64)
      #expect(layout.trailerByteCount >= 128)
      #expect(layout.contentByteCount <= layout.stride)
      #expect(layout.stride % 64 == 0)
      #expect(layout.recordOffset(0) >= TableLayout.headerByteCount)
      #expect(layout.recordOffset(299) + 64 <= layout.slotOffset(0))
      #expect(layout.slotOffset(0) % 16_384 == 0)
      #expect(layout.slotOffset(299) + layout.stride == layout.fileByteCount)
    }
  }

  @Test(
    "puts slots on pages where that is cheap",
    arguments: [(200 * 832, 16_384), (4 * 16_384 - 1024, 16_384), (7 * 1024, 4096), (2048, 64)])
  func alignsSlots(pixels: Int, alignment: Int) throws {
    let layout = try TableLayout(
      geometry: Self.geometry(rows: pixels / 64, rowBytes: 64), capacity: .slots(1))
    #expect(layout.stride % alignment == 0)
  }

  @Test("fills a budget to the last slot and never exceeds it")
  func fillsBudgets() throws {
    let geometry = Self.geometry(rows: 20, rowBytes: 64)
    for budget in stride(from: 40_000, to: 2_000_000, by: 9_973) {
      let layout = try TableLayout(geometry: geometry, capacity: .bytes(budget))
      #expect(layout.fileByteCount <= budget)
      let larger = try TableLayout(geometry: geometry, capacity: .slots(layout.slotCount + 1))
      #expect(larger.fileByteCount > budget)
    }
  }

  @Test(
    "refuses capacities without slots and beyond the limit",
    arguments: [
      TableCapacity.slots(0), .slots(-1), .slots(.max), .slots(1 << 40), .bytes(0), .bytes(.min),
      .bytes(33_000),
    ])
  func refusesCapacities(capacity: TableCapacity) {
    #expect(throws: TableError.invalidCapacity(capacity)) {
      try TableLayout(geometry: Self.geometry(rows: 20, rowBytes: 64), capacity: capacity)
    }
  }

  @Test("takes a budget without bounds for the largest table")
  func acceptsHugeBudgets() throws {
    let layout = try TableLayout(
      geometry: Self.geometry(rows: 1, rowBytes: 64), capacity: .bytes(.max))
    #expect(layout.slotCount == TableCapacity.maximumSlotCount)
  }

  @Test(
    "refuses geometries beyond the limits",
    arguments: [
      TableGeometry(width: 0, height: 1, rowByteCount: 64, pixelFormat: 0),
      TableGeometry(width: 1, height: -1, rowByteCount: 64, pixelFormat: 0),
      TableGeometry(width: 65_536, height: 1, rowByteCount: 64, pixelFormat: 0),
      TableGeometry(width: 1, height: 1, rowByteCount: 63, pixelFormat: 0),
      TableGeometry(width: 1, height: 1, rowByteCount: 0, pixelFormat: 0),
      TableGeometry(width: 1, height: 1, rowByteCount: 96, pixelFormat: 0),
      TableGeometry(width: 1, height: 65_535, rowByteCount: 1 << 20, pixelFormat: 0),
      TableGeometry(width: .max, height: .max, rowByteCount: .max, pixelFormat: 0),
    ])
  func refusesGeometries(geometry: TableGeometry) {
    #expect(throws: TableError.invalidGeometry(geometry)) {
      try TableLayout(geometry: geometry, capacity: .slots(1))
    }
  }
}
