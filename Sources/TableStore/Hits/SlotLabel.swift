/// The key and size of a slot's image, which hits compare without a lock.
///
/// Written only while no hit reads it: before the slot is live, or under a claim; see `SlotStates`.
struct SlotLabel {
  var entity = TableID.Digest(low: 0, high: 0)
  var version = TableID.Digest(low: 0, high: 0)
  var entityKind = TableID.Kind.string
  var versionKind = TableID.Kind.string
  /// The image's own size, at most the slot's, whose sides fit into sixteen bits.
  var width: UInt16 = 0
  var height: UInt16 = 0

  /// True when the ids are those of the key, up to the bytes of strings. Of ids that are no
  /// strings, equal digests are equal ids (invariant 2 of `TableID`).
  @inline(__always)
  func matches(_ key: TableKeyView) -> Bool {
    entity == key.entity && version == key.version && entityKind == key.entityKind
      && versionKind == key.versionKind
  }

  var extent: SlotExtent { SlotExtent(width: Int(width), height: Int(height)) }
}

/// The fields of one slot's record that only the index needs.
struct RecordMetadata {
  let generation: UInt64
  let slotHash: UInt64
  /// As it stands in the file.
  let recency: UInt64

  init(_ record: SlotRecord) {
    generation = record.generation
    slotHash = record.slotHash
    recency = record.recency
  }
}

/// The strings among a slot's ids, retained, where they can be compared without retaining them.
///
/// All zeros is a slot without strings, so that the memory of a table whose ids are no strings is
/// never touched.
struct SlotStrings {
  private var entity = IDSpan(base: nil, count: 0)
  private var version = IDSpan(base: nil, count: 0)
  private var entityOwner: Unmanaged<IDBytes.Buffer>?
  private var versionOwner: Unmanaged<IDBytes.Buffer>?

  init() {}

  /// Retains the strings of a key.
  init(retaining key: TableKey) {
    entity = key.entity.span
    version = key.version.span
    entityOwner = key.entity.bytes.map { .passRetained($0.buffer) }
    versionOwner = key.version.bytes.map { .passRetained($0.buffer) }
  }

  var isEmpty: Bool { entityOwner == nil && versionOwner == nil }

  func release() {
    entityOwner?.release()
    versionOwner?.release()
  }

  /// True when these are the strings of the key; ids of other kinds have none.
  @inline(__always)
  func match(_ key: TableKeyView) -> Bool {
    if key.entityKind == .string, !entity.hasSameBytes(as: key.entityBytes) { return false }
    return key.versionKind != .string || version.hasSameBytes(as: key.versionBytes)
  }

  var entityBytes: IDBytes? { (entityOwner?.takeUnretainedValue()).map { IDBytes($0) } }
  var versionBytes: IDBytes? { (versionOwner?.takeUnretainedValue()).map { IDBytes($0) } }
}
