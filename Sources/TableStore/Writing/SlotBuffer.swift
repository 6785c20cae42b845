import Locking

/// Memory for one slot's content, into which an image is drawn before it goes to the table; rows start at
/// multiples of 64 bytes.
///
/// `@unchecked Sendable` is safe: the type cannot be copied, so only its owner sees the memory.
package struct SlotBuffer: ~Copyable, @unchecked Sendable {
  private let memory: PooledMemory
  let layout: TableLayout

  fileprivate init(memory: PooledMemory, layout: TableLayout) {
    self.memory = memory
    self.layout = layout
  }

  /// The pixels to be drawn; valid while the buffer is.
  package var pixels: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: memory.base, count: layout.geometry.pixelByteCount)
  }

  /// Adds the trailer and seals the content, which never changes afterwards.
  ///
  /// Costs one pass over the slot, for the hash. Throws `metadataTooLarge`.
  package consuming func sealed(
    key: TableKey, extent: SlotExtent, source: SourceExtent? = nil, metadata: [UInt8] = []
  ) throws(TableError) -> SealedSlot {
    let trailer = try SlotTrailer(
      entity: .full(key.entity), version: .full(key.version), extent: extent, source: source,
      metadata: metadata, roomByteCount: layout.trailerByteCount)
    return sealed(trailer, entity: key.entity.digest, version: key.version.digest, key: key)
  }

  /// Adds a trailer that has room, and seals the content, as above.
  ///
  /// - Parameter key: `nil` where the trailer has the hash of an id that is not known in full.
  consuming func sealed(
    _ trailer: SlotTrailer, entity: TableID.Digest, version: TableID.Digest, key: TableKey?
  ) -> SealedSlot {
    let room = UnsafeMutableRawBufferPointer(
      start: memory.base + layout.trailerOffset, count: layout.trailerByteCount)
    trailer.write(to: room)
    return SealedSlot(
      entity: entity, version: version, key: key, extent: trailer.extent,
      content: SlotContent(memory: memory, layout: layout))
  }
}

/// A finished image on its way to the table, with the hash of its content.
package final class SealedSlot: Sendable {
  let entity: TableID.Digest
  let version: TableID.Digest
  /// `nil` when an id is known by its hash only. Such an image is stored unverified: the first request
  /// brings the id, and compares it with the hash.
  let key: TableKey?
  let extent: SlotExtent
  let content: SlotContent
  let contentHash: UInt64

  package var isPlaceholder: Bool { key?.version.isPlaceholder == true }

  init(
    entity: TableID.Digest, version: TableID.Digest, key: TableKey?, extent: SlotExtent,
    content: SlotContent
  ) {
    self.entity = entity
    self.version = version
    self.key = key
    self.extent = extent
    self.content = content
    contentHash = SlotContent.hash(of: content.bytes)
  }
}

/// The pixels and trailer of one slot in private memory, which never change again.
///
/// `@unchecked Sendable` is safe: the memory is written before this object exists, and only read
/// afterwards.
final class SlotContent: @unchecked Sendable {
  private let memory: PooledMemory
  let layout: TableLayout

  fileprivate init(memory: PooledMemory, layout: TableLayout) {
    self.memory = memory
    self.layout = layout
  }

  var base: UnsafeRawPointer { UnsafeRawPointer(memory.base) }

  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base, count: layout.contentByteCount)
  }

  /// The hash that records bind: over pixels and trailer.
  static func hash(of content: UnsafeRawBufferPointer) -> UInt64 {
    LaneHash.hash(content, seed: LaneHash.keys.6)
  }
}

/// Slots in private memory, for drawing, and for images that no table keeps.
///
/// An image that was drawn and sealed in one can be inserted into every table of the same geometry. A few
/// buffers are kept for reuse, since fresh memory costs a page fault every 4 KiB.
package final class PrivateSlots: Sendable {
  private static let keptLimit = 4
  /// Larger buffers go back to the system at once.
  private static let keptByteCount = 16 << 20

  private let layout: TableLayout
  private let kept = Lock<[UnsafeMutableRawPointer]>([])

  init(layout: TableLayout) { self.layout = layout }

  /// Throws `invalidGeometry`.
  package convenience init(geometry: TableGeometry) throws(TableError) {
    self.init(layout: try TableLayout(geometry: geometry, capacity: .slots(1)))
  }

  package var geometry: TableGeometry { layout.geometry }

  /// Buffers that are not in use.
  var keptCount: Int { kept.withLock { $0.count } }

  /// Memory to draw one image into, perhaps with the pixels of another one: callers write each pixel. `nil` when the
  /// system has none.
  package func makeBuffer() -> SlotBuffer? {
    takeMemory().map { SlotBuffer(memory: $0, layout: layout) }
  }

  /// Content that `body` fills; `nil` without memory for it.
  func makeContent<Result>(
    _ body: (UnsafeMutableRawBufferPointer) -> Result
  ) -> (content: SlotContent, result: Result)? {
    guard let memory = takeMemory() else { return nil }
    let bytes = UnsafeMutableRawBufferPointer(start: memory.base, count: layout.contentByteCount)
    let result = body(bytes)
    return (SlotContent(memory: memory, layout: layout), result)
  }

  /// Frees the buffers that are not in use; those in use may be kept again.
  package func freeSpareBuffers() {
    let freed = kept.withLock { kept in
      defer { kept = [] }
      return kept
    }
    for memory in freed { SystemMemory.deallocate(memory) }
  }

  deinit { freeSpareBuffers() }

  private func takeMemory() -> PooledMemory? {
    let base =
      kept.withLock { $0.popLast() }
      ?? SystemMemory.allocate(byteCount: layout.contentByteCount, alignment: 64)
    return base.map { PooledMemory(base: $0, pool: self) }
  }

  fileprivate func takeBack(_ base: UnsafeMutableRawPointer) {
    let isKept = kept.withLock { kept in
      guard layout.contentByteCount <= Self.keptByteCount, kept.count < Self.keptLimit else {
        return false
      }
      kept.append(base)
      return true
    }
    if !isKept { SystemMemory.deallocate(base) }
  }
}

/// Memory that returns to its pool with its last reference.
///
/// `@unchecked Sendable` is safe: it only owns the address; `SlotBuffer` and `SlotContent` decide
/// who writes.
private final class PooledMemory: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  private let pool: PrivateSlots

  init(base: UnsafeMutableRawPointer, pool: PrivateSlots) {
    self.base = base
    self.pool = pool
  }

  deinit { pool.takeBack(base) }
}
