/// Where the edges of an image lie in the bitmap that it was decoded to.
///
/// A decoder that scales rounds each side up: at 4/8 of the size 1365 columns become 683, of which
/// the image takes 682.5, and the other half of the outermost column is padding. A drawing that
/// took the bitmap's edges for the image's would shift everything between them.
///
/// Invariants:
/// 1. The four edges lie in the bitmap, each less than a pixel from the bitmap's own. Only in a preview may they
///    lie up to half a pixel outside, where single pixels of the image are known, or further inside, where a
///    thumbnail has black bars. Where a decoder left parts of the image out, its edges lie as far outside.
/// 2. The area between them shows the whole image and nothing else, as far as the bitmap has it.
package struct ImageEdges: Hashable, Sendable {
  /// The left edge, in pixels of the bitmap.
  package let x: Double

  /// The top edge, in pixels of the bitmap.
  package let y: Double

  /// From the left edge to the right one, in pixels of the bitmap.
  package let width: Double

  /// From the top edge to the bottom one, in pixels of the bitmap.
  package let height: Double

  /// The upright image's size before it was scaled. It has the image's exact proportions, which
  /// `width` and `height` lose where a decoder scales each side to a whole number of pixels.
  package let fullSize: PixelSize

  package init(x: Double, y: Double, width: Double, height: Double, fullSize: PixelSize) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
    self.fullSize = fullSize
  }

  /// The edges of an image that was scaled to a bitmap's own.
  package init(filling size: PixelSize, fullSize: PixelSize) {
    self.init(
      x: 0, y: 0, width: Double(size.width), height: Double(size.height), fullSize: fullSize)
  }
}
