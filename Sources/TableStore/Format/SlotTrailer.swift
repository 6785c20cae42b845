/// The bytes behind the pixels of a slot: the picture's extent, its ids and its metadata.
///
/// ```
///  0  width, 2       2  height, 2    4  marks, 4
///  8  code of the entity id, 2      10  code of the version id, 2
/// 12  bytes of metadata, 4
/// 16  fields that the marks tell of, entity id, version id, metadata, zeros up to the end
/// ```
///
/// A code holds the kind of an id and its byte count. Ids and metadata share the room. When they do
/// not fit, the longer id is kept as its hash, and then the shorter one too.
struct SlotTrailer: Hashable, Sendable {
  static let fixedByteCount = 16

  /// The kind of a picture, and the fields of eight bytes that its trailer has before the ids.
  struct Marks: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    static let placeholder = Marks(rawValue: 1)
    /// The picture shows a part of a damaged file.
    static let damaged = Marks(rawValue: 2)
    /// This version writes no field. It skips those of later ones, which need no other file for them.
    static let fields = Marks(rawValue: 0xff00)
    static let known: Marks = [.placeholder, .damaged, .fields]

    var fieldByteCount: Int { intersection(.fields).rawValue.nonzeroBitCount * 8 }
  }

  let extent: SlotExtent
  let entity: StoredID
  let version: StoredID
  let metadata: [UInt8]

  /// Throws `metadataTooLarge` when the metadata does not fit beside two hashed ids.
  init(
    key: TableKey, extent: SlotExtent, metadata: [UInt8], roomByteCount: Int
  ) throws(TableError) {
    try self.init(
      entity: .full(key.entity), version: .full(key.version), extent: extent, metadata: metadata,
      roomByteCount: roomByteCount)
  }

  /// The same for ids of which another trailer may have kept the hash only.
  init(
    entity: StoredID, version: StoredID, extent: SlotExtent, metadata: [UInt8], roomByteCount: Int
  ) throws(TableError) {
    var (entity, version) = (entity, version)
    func isTooLong() -> Bool {
      // Counts the ids themselves: a string may be longer than a code can say.
      let ids = [entity, version].map(Self.byteCount)
      return ids.reduce(Self.fixedByteCount + metadata.count, +) > roomByteCount
        || ids.contains { $0 > StoredID.maximumByteCount }
    }
    func shorten(_ id: inout StoredID) {
      guard case .full(let full) = id, full.kind == .string,
        full.span.count > StoredID.hashedByteCount
      else { return }
      id = .hashing(full)
    }
    if isTooLong() {
      if Self.byteCount(entity) > Self.byteCount(version) {
        shorten(&entity)
      } else {
        shorten(&version)
      }
    }
    if isTooLong() {
      shorten(&entity)
      shorten(&version)
    }
    guard !isTooLong() else {
      let ids = Self.byteCount(entity) + Self.byteCount(version)
      throw .metadataTooLarge(
        byteCount: metadata.count, limit: max(0, roomByteCount - Self.fixedByteCount - ids))
    }
    self.extent = extent
    self.entity = entity
    self.version = version
    self.metadata = metadata
  }

  /// True when the slot was stored for this key.
  func matches(_ key: TableKey) -> Bool {
    entity.matches(key.entity) && version.matches(key.version)
  }

  // MARK: Bytes

  /// Fills the trailer's room, the unused end with zeros.
  func write(to room: UnsafeMutableRawBufferPointer) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(room.count)
    append(UInt16(extent.width), to: &bytes)
    append(UInt16(extent.height), to: &bytes)
    append(version.marks.rawValue, to: &bytes)
    append(entity.code, to: &bytes)
    append(version.code, to: &bytes)
    append(UInt32(metadata.count), to: &bytes)
    bytes += entity.bytes + version.bytes + metadata
    room.copyBytes(from: bytes)
    room[bytes.count...].initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// Reads a trailer; `nil` for anything that `write` would not have written, but for fields.
  init?(reading room: UnsafeRawBufferPointer) {
    guard room.count >= Self.fixedByteCount else { return nil }
    func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
      Number(littleEndian: room.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
    let (width, height) = (number(0, UInt16.self), number(2, UInt16.self))
    let marks = Marks(rawValue: number(4, UInt32.self))
    let (entityCode, versionCode) = (number(8, UInt16.self), number(10, UInt16.self))
    let entityStart = Self.fixedByteCount + marks.fieldByteCount
    let versionStart = entityStart + StoredID.byteCount(code: entityCode)
    let metadataStart = versionStart + StoredID.byteCount(code: versionCode)
    let end = metadataStart + Int(number(12, UInt32.self))
    guard marks.isSubset(of: .known), end <= room.count else { return nil }
    let bytes = [UInt8](room[..<end])
    guard let entity = StoredID(code: entityCode, bytes: bytes[entityStart..<versionStart]),
      let version = StoredID(
        code: versionCode, bytes: bytes[versionStart..<metadataStart],
        marks: marks.subtracting(.fields))
    else { return nil }
    extent = SlotExtent(width: Int(width), height: Int(height))
    self.entity = entity
    self.version = version
    metadata = Array(bytes[metadataStart...])
  }

  // MARK: Private

  private static func byteCount(_ id: StoredID) -> Int {
    switch id {
    case .full(let id) where id.kind == .string: id.span.count
    case .full(let id): [.integer, .largeInteger].contains(id.kind) ? 8 : 16
    case .hashed: StoredID.hashedByteCount
    }
  }

  private func append<Number: FixedWidthInteger>(_ value: Number, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }
}
