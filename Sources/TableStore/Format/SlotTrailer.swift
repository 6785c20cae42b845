/// The bytes behind the pixels of a slot: the image's extent, its ids and its metadata.
/// `Docs/TableFormat.md` has them.
struct SlotTrailer: Hashable, Sendable {
  static let fixedByteCount = 16
  private static let fieldByteCount = 8

  /// The kind of an image, and the fields of eight bytes that its trailer has before the ids.
  struct Marks: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    static let placeholder = Marks(rawValue: 1)
    /// The image shows a part of a damaged file.
    static let damaged = Marks(rawValue: 2)
    /// The field with the size of the source. It is the first one.
    static let source = Marks(rawValue: 1 << 8)
    /// This version writes no other field. It skips those of later ones, which need no other file for them.
    static let fields = Marks(rawValue: 0xff00)
    static let known: Marks = [.placeholder, .damaged, .fields]

    var fieldByteCount: Int {
      intersection(.fields).rawValue.nonzeroBitCount * SlotTrailer.fieldByteCount
    }
  }

  let extent: SlotExtent
  let entity: StoredID
  let version: StoredID
  let metadata: [UInt8]
  /// `nil` where it is not known, and where the rest leaves no room for it.
  let source: SourceExtent?

  /// Throws `metadataTooLarge` when the metadata does not fit beside two hashed ids.
  init(
    entity: StoredID, version: StoredID, extent: SlotExtent, source: SourceExtent? = nil,
    metadata: [UInt8], roomByteCount: Int
  ) throws(TableError) {
    var (entity, version) = (entity, version)
    func isTooLong() -> Bool {
      // Counts the ids themselves: a string may be longer than a code can say.
      let ids = [entity, version].map(\.bytes.count)
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
      if entity.bytes.count > version.bytes.count {
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
      let ids = entity.bytes.count + version.bytes.count
      throw .metadataTooLarge(
        byteCount: metadata.count, limit: max(0, roomByteCount - Self.fixedByteCount - ids))
    }
    self.extent = extent
    self.entity = entity
    self.version = version
    self.metadata = metadata
    let used = Self.fixedByteCount + entity.bytes.count + version.bytes.count + metadata.count
    self.source = used + Self.fieldByteCount <= roomByteCount ? source : nil
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
    bytes.put(UInt16(extent.width))
    bytes.put(UInt16(extent.height))
    bytes.put(version.marks.union(source == nil ? [] : .source).rawValue)
    bytes.put(entity.code)
    bytes.put(version.code)
    bytes.put(UInt32(metadata.count))
    if let source {
      bytes.put(source.width)
      bytes.put(source.height)
    }
    bytes += entity.bytes + version.bytes + metadata
    room.copyBytes(from: bytes)
    room[bytes.count...].initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// Reads a trailer; `nil` for anything that `write` would not have written, but for fields.
  init?(reading room: UnsafeRawBufferPointer) {
    guard room.count >= Self.fixedByteCount else { return nil }
    func small(_ offset: Int) -> UInt16 { room.number(at: offset, as: UInt16.self) }
    let marks = Marks(rawValue: room.number(at: 4, as: UInt32.self))
    let (entityCode, versionCode) = (small(8), small(10))
    let entityStart = Self.fixedByteCount + marks.fieldByteCount
    let versionStart = entityStart + StoredID.byteCount(code: entityCode)
    let metadataStart = versionStart + StoredID.byteCount(code: versionCode)
    let end = metadataStart + Int(room.number(at: 12, as: UInt32.self))
    guard marks.isSubset(of: .known), end <= room.count else { return nil }
    let bytes = [UInt8](room[..<end])
    guard let entity = StoredID(code: entityCode, bytes: bytes[entityStart..<versionStart]),
      let version = StoredID(
        code: versionCode, bytes: bytes[versionStart..<metadataStart],
        marks: marks.subtracting(.fields))
    else { return nil }
    extent = SlotExtent(width: Int(small(0)), height: Int(small(2)))
    let field = Self.fixedByteCount
    source =
      marks.contains(.source)
      ? SourceExtent(
        width: room.number(at: field, as: UInt32.self),
        height: room.number(at: field + 4, as: UInt32.self)) : nil
    self.entity = entity
    self.version = version
    metadata = Array(bytes[metadataStart...])
  }
}
