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

  /// Frees the buffers that are kept for the next pictures.
  package func freeSpareBuffers() { pool.clear() }
}
