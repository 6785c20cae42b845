/// An image that stays as it is while this object lives: a lease on a slot, or private memory.
///
/// Its bytes are never written again before the last reference is gone, in spite of replacement,
/// eviction, removal and closing.
///
/// `@unchecked Sendable` is safe: all state is constant, and so are the bytes, by the lease or by
/// the private content that this object retains.
package final class TableEntry: @unchecked Sendable {
  private let base: UnsafeRawPointer
  /// The lease keeps the mapping in place, so nothing is retained for an image of a table.
  private let lease: HitIndex.HeldSlot?
  /// Keeps the bytes where no lease does.
  private let content: SlotContent?
  /// The image's own size, at most the slot's.
  package let extent: SlotExtent

  /// Takes over a lease.
  @inline(__always)
  init(_ hit: HitIndex.Hit) {
    base = hit.content
    lease = hit.lease
    content = nil
    extent = hit.extent
  }

  /// A sealed image as an entry of its own, for when it was not stored; no table knows of it.
  package convenience init(keepingPrivate sealed: SealedSlot) {
    self.init(content: sealed.content, extent: sealed.extent)
  }

  init(content: SlotContent, extent: SlotExtent) {
    base = content.base
    lease = nil
    self.content = content
    self.extent = extent
  }

  deinit { lease?.end() }

  /// True when the bytes are in private memory and not in a table.
  package var isPrivate: Bool { lease == nil }

  /// The whole slot's pixels, rows as the table's geometry says; valid while the entry lives.
  package var pixels: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base, count: layout?.geometry.pixelByteCount ?? 0)
  }

  /// The client's number for how a pixel lies in memory, as the table's geometry has it.
  package var pixelFormat: UInt32 { layout?.geometry.pixelFormat ?? 0 }

  /// Lends the pixels, and keeps the entry alive meanwhile.
  package func withPixels<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(pixels)
  }

  /// The metadata stored beside the pixels; each call reads the slot.
  package var metadata: [UInt8] { trailer?.metadata ?? [] }

  /// The size of the image that this one was drawn from; `nil` where the slot does not tell. Each call reads the slot.
  package var source: SourceExtent? { trailer?.source }

  /// Whether the image shows a part of a damaged file; each call reads the slot.
  package var isDamaged: Bool { version?.isDamaged == true }

  /// The image's version; `nil` for one that its file does not keep in full.
  package var version: TableID? { trailer?.version.known }

  private var trailer: SlotTrailer? {
    guard let layout else { return nil }
    let room = UnsafeRawBufferPointer(
      start: base + layout.trailerOffset, count: layout.trailerByteCount)
    defer { withExtendedLifetime(self) {} }
    return SlotTrailer(reading: room)
  }

  private var layout: TableLayout? { lease?.layout ?? content?.layout }
}
