/// Slots in private memory, for drawing, and for pictures that no table keeps.
///
/// A picture that was drawn and sealed in one can be inserted into every table of the same
/// geometry.
package struct PrivateSlots: Sendable {
  private let pool: SlotBufferPool

  package let geometry: TableGeometry

  /// Throws `invalidGeometry`.
  package init(geometry: TableGeometry) throws(TableError) {
    self.geometry = geometry
    pool = SlotBufferPool(layout: try TableLayout(geometry: geometry, capacity: .slots(1)))
  }

  /// Memory to draw one picture into; `nil` when the system has none.
  ///
  /// - Parameter isCleared: false leaves the pixels of another picture in it, for callers that
  ///   write each pixel.
  package func makeBuffer(isCleared: Bool = true) -> SlotBuffer? {
    pool.makeBuffer(isCleared: isCleared)
  }

  /// The same picture, sealed anew as a placeholder of its key; costs a copy of the slot, and its hash.
  ///
  /// - Throws: `outOfMemory`, `metadataTooLarge`.
  package func placeholder(of sealed: SealedSlot) throws(TableError) -> SealedSlot {
    guard let key = sealed.key, let buffer = makeBuffer(isCleared: false) else {
      throw .outOfMemory(byteCount: geometry.pixelByteCount)
    }
    let picture = TableEntry(keepingPrivate: sealed)
    picture.withPixels { buffer.pixels.copyMemory(from: $0) }
    return try buffer.sealed(
      key: TableKey(entity: key.entity, version: key.version.placeholder), extent: sealed.extent,
      metadata: picture.metadata)
  }

  /// Frees the buffers that are kept for the next pictures.
  package func freeSpareBuffers() { pool.clear() }
}
