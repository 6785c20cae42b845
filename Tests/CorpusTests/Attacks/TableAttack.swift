import Foundation

@testable import TableStore

/// Opens a changed table file, with or without forged hashes, and uses it.
///
/// The bytes are a script of changes to a whole file of five images. As long as no slot hash is
/// forged, each image that is found has to be the one that was stored.
enum TableAttack {
  private static let geometry = TableGeometry(
    width: 16, height: 4, rowByteCount: 64, pixelFormat: 7)
  private static let name = "rows"
  private static let nonce: UInt64 = 0x0123_4567_89AB_CDEF

  static func run(on bytes: [UInt8]) throws {
    var script = ByteScript(bytes)
    let plan = Forgery(rawValue: script.byte())
    let capacity = 1 + Int(script.byte()) % 12
    var file = try wholeFile.get()
    if plan.contains(.anything) {
      file = script.remainder()
    } else {
      while !script.isEmpty { change(&file, by: &script) }
    }
    try forge(&file, plan)
    try use(file, capacity: capacity, isProof: !plan.contains(.slots))
  }

  // MARK: Changing

  /// The hashes that are made right again after the changes.
  private struct Forgery: OptionSet {
    let rawValue: UInt8

    static let header = Forgery(rawValue: 1)
    static let records = Forgery(rawValue: 2)
    static let slots = Forgery(rawValue: 4)
    /// The bytes are no script but the file itself.
    static let anything = Forgery(rawValue: 8)
  }

  private static func change(_ file: inout [UInt8], by script: inout ByteScript) {
    guard let layout = try? plannedLayout.get() else { return }
    let kind = script.byte()
    let slot = Int(script.byte()) % layout.slotCount
    switch kind % 6 {
    case 0: write(script.chunk(), over: &file, at: Int(script.short()) % 512)
    case 1: write(script.chunk(), over: &file, at: layout.recordOffset(slot) + script.short() % 64)
    case 2: write(script.chunk(), over: &file, at: layout.slotOffset(slot) + script.short() % 384)
    case 3: write(script.chunk(), over: &file, at: layout.slotOffset(slot) + layout.trailerOffset)
    case 4:
      let target = Int(script.byte()) % layout.slotCount
      write(
        slice(of: file, layout.slotOffset(slot), 384), over: &file, at: layout.slotOffset(target))
      write(
        slice(of: file, layout.recordOffset(slot), 64), over: &file, at: layout.recordOffset(target)
      )
    default: file.removeLast(min(file.count, script.short()))
    }
  }

  private static func slice(of file: [UInt8], _ start: Int, _ count: Int) -> [UInt8] {
    Array(file.dropFirst(start).prefix(count))
  }

  private static func write(_ bytes: [UInt8], over file: inout [UInt8], at offset: Int) {
    let room = max(0, file.count - offset)
    guard room > 0 else { return }
    file.replaceSubrange(offset..<(offset + min(room, bytes.count)), with: bytes.prefix(room))
  }

  // MARK: Forging

  private static func forge(_ file: inout [UInt8], _ plan: Forgery) throws {
    let layout = try plannedLayout.get()
    guard file.count >= TableLayout.headerByteCount else { return }
    if plan.contains(.header) {
      let hash = file.withUnsafeBytes {
        LaneHash.hash(UnsafeRawBufferPointer(rebasing: $0[..<504]), seed: LaneHash.keys.0)
      }
      file.replaceSubrange(504..<512, with: hash.littleEndianBytes)
    }
    let nonce = file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 96, as: UInt64.self) }
    for slot in 0..<layout.slotCount where layout.recordOffset(slot + 1) <= file.count {
      let address = SlotAddress(nonce: UInt64(littleEndian: nonce), slot: slot)
      var record = slice(of: file, layout.recordOffset(slot), 64)
      let content = slice(of: file, layout.slotOffset(slot), layout.contentByteCount)
      if plan.contains(.slots), content.count == layout.contentByteCount {
        record = content.withUnsafeBytes { content in
          RecordFields(record).record(contentHash: SlotContent.hash(of: content), at: address)
        }.bytes(at: address)
      } else if plan.contains(.records) {
        record = RecordFields(record).record.bytes(at: address)
      }
      write(record, over: &file, at: layout.recordOffset(slot))
    }
  }

  /// The numbers of a record, without a look at its hash.
  private struct RecordFields {
    private let numbers: [UInt64]

    init(_ bytes: [UInt8]) {
      numbers = bytes.withUnsafeBytes { bytes in
        (0..<8).map {
          UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self))
        }
      }
    }

    private var entity: TableID.Digest { .init(low: numbers[0], high: numbers[1]) }
    private var version: TableID.Digest { .init(low: numbers[2], high: numbers[3]) }

    var record: SlotRecord {
      SlotRecord(
        entity: entity, version: version, generation: numbers[4], slotHash: numbers[5],
        recency: numbers[6])
    }

    func record(contentHash: UInt64, at address: SlotAddress) -> SlotRecord {
      SlotRecord(
        entity: entity, version: version, generation: numbers[4], contentHash: contentHash,
        recency: numbers[6], at: address)
    }
  }

  // MARK: Using

  private static func use(_ file: [UInt8], capacity: Int, isProof: Bool) throws {
    let folder = try ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.url.path
    let filePath = try path + "/" + TableDirectory.fileName(for: name)
    try Data(file).write(to: URL(fileURLWithPath: filePath))
    guard chmod(filePath, 0o600) == 0 else { throw BrokenRule(description: "chmod(2) failed.") }
    let directory = try TableDirectory(path: path)
    for reader in try directory.tables() {
      look(into: reader)
    }
    let table = try Table(
      name: name, in: directory, geometry: geometry, capacity: .slots(capacity))
    defer { table.close() }
    try Attack.require(table.statistics.isOwner, "The table belongs to nobody.")
    for entity in 1...5 {
      guard let entry = table.entry(for: key(entity)) else { continue }
      let isSame = entry.withPixels { $0.elementsEqual(pixels(of: entity)) }
      _ = entry.metadata
      try Attack.require(isSame || !isProof, "Entity \(entity) shows another image.")
    }
    var cursor = ListingCursor()
    while try !table.list(&cursor).isEmpty {}
    if let moved = try? table.changeEntity(from: key(3).entity, to: TableID("other"))?.entry {
      let isSame = moved.withPixels { $0.elementsEqual(pixels(of: 3)) }
      try Attack.require(isSame || !isProof, "Entity 3 shows another image under another id.")
    }
    _ = try table.remove(key(2).entity)
    for entity in 4...9 {
      _ = try table.insert(try sealed(entity))
      let isThere = table.entry(for: key(entity))?.withPixels {
        $0.elementsEqual(pixels(of: entity))
      }
      try Attack.require(isThere == true, "Entity \(entity) was stored and is not there.")
    }
  }

  private static func look(into reader: TableReader) {
    _ = reader.entry(of: key(1).entity)
    _ = reader.scan()
  }

  // MARK: Images

  private static let plannedLayout = Result {
    try TableLayout(geometry: geometry, capacity: .slots(8))
  }

  private static func key(_ entity: Int) -> TableKey {
    TableKey(entity: TableID("entity \(entity)"), version: TableID("version \(entity)"))
  }

  private static func pixels(of entity: Int) -> some Sequence<UInt8> {
    (0..<geometry.pixelByteCount).lazy.map { UInt8(truncatingIfNeeded: $0 &* 7 &+ entity) }
  }

  private static func sealed(_ entity: Int) throws -> SealedSlot {
    guard let buffer = try PrivateSlots(geometry: geometry).makeBuffer() else {
      throw TableError.outOfMemory(byteCount: geometry.pixelByteCount)
    }
    for (index, byte) in pixels(of: entity).enumerated() { buffer.pixels[index] = byte }
    return try buffer.sealed(
      key: key(entity), extent: SlotExtent(width: 16, height: 4), metadata: [1, 2, 3])
  }

  /// A file with the entities 1...5 in its first slots. Made by hand, since a table would draw
  /// another nonce each time, and no input would mean the same twice.
  private static let wholeFile: Result<[UInt8], any Error> = Result {
    let layout = try plannedLayout.get()
    var file = TableHeader(layout: layout, nonce: nonce, name: name).bytes
    file += [UInt8](repeating: 0, count: layout.slotOffset(5) - file.count)
    for entity in 1...5 {
      let (slot, sealed) = (entity - 1, try sealed(entity))
      let address = SlotAddress(nonce: nonce, slot: slot)
      let record = SlotRecord(
        entity: sealed.entity, version: sealed.version,
        generation: UInt64(entity), contentHash: sealed.contentHash, recency: UInt64(2 * entity),
        at: address)
      write(record.bytes(at: address), over: &file, at: layout.recordOffset(slot))
      write(Array(sealed.content.bytes), over: &file, at: layout.slotOffset(slot))
    }
    return file
  }
}

extension UInt64 {
  fileprivate var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
