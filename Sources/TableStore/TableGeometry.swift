/// The size and pixel layout of all slots of a table; a file has one geometry.
///
/// The store itself only counts bytes. Width, height and format are kept for tools that look into
/// the file without knowing the program that wrote it.
package struct TableGeometry: Hashable, Sendable {
  /// Pixels, the largest image the slot takes.
  package let width: Int
  /// Pixels, the largest image the slot takes.
  package let height: Int
  /// Bytes from one row to the next, a multiple of 64: the alignment at which Core Animation takes
  /// rows without copying them.
  package let rowByteCount: Int
  /// The client's own number for how a pixel lies in memory.
  package let pixelFormat: UInt32
  /// The client's own number for how its images are drawn.
  package let revision: UInt32

  package init(
    width: Int, height: Int, rowByteCount: Int, pixelFormat: UInt32, revision: UInt32 = 0
  ) {
    self.width = width
    self.height = height
    self.rowByteCount = rowByteCount
    self.pixelFormat = pixelFormat
    self.revision = revision
  }

  /// Bytes of the largest image; meaningful once `TableLayout` has accepted the geometry.
  package var pixelByteCount: Int { rowByteCount * height }

  /// Bytes of metadata that fit beside any two ids; more may fit beside short ones.
  package var metadataByteLimit: Int { TableLayout.metadataByteLimit(besides: pixelByteCount) }
}

/// The size in pixels of the image in one slot, which may be smaller than the slot.
package struct SlotExtent: Hashable, Sendable {
  package let width: Int
  package let height: Int

  /// Keeps `width` and `height`, each from 0 to 65 535; others are programming errors and trap.
  package init(width: Int, height: Int) {
    precondition(
      UInt16(exactly: width) != nil && UInt16(exactly: height) != nil,
      "A slot's image is at most 65535 pixels wide and high, not \(width) x \(height).")
    self.width = width
    self.height = height
  }
}

/// The size of the image that a slot's was drawn from, upright.
package struct SourceExtent: Hashable, Sendable {
  package let width: UInt32
  package let height: UInt32

  package init(width: UInt32, height: UInt32) { (self.width, self.height) = (width, height) }
}
