/// A part of an upright image, in whole pixels of its full size.
package struct ImageRegion: Hashable, Sendable {
  package var columns: Range<Int>
  package var rows: Range<Int>

  package init(columns: Range<Int>, rows: Range<Int>) {
    self.columns = columns
    self.rows = rows
  }

  /// The whole image.
  package init(_ size: PixelSize) {
    self.init(columns: 0..<size.width, rows: 0..<size.height)
  }

  /// The smallest region that has both.
  package func union(_ other: ImageRegion) -> ImageRegion {
    ImageRegion(
      columns: min(
        columns.lowerBound, other.columns.lowerBound)..<max(
          columns.upperBound, other.columns.upperBound),
      rows: min(
        rows.lowerBound, other.rows.lowerBound)..<max(
          rows.upperBound, other.rows.upperBound))
  }
}

extension Bitmap {
  /// Whether all pixels of a region were decoded.
  ///
  /// - Parameters:
  ///   - region: In pixels of the full image.
  ///   - fullSize: The full image's size. The edges of a bitmap that a user's decoder scaled do not know it.
  package func shows(_ region: ImageRegion, of fullSize: PixelSize) -> Bool {
    func isInside(
      _ range: Range<Int>, of full: Int, _ start: Double, _ length: Double, _ count: Int
    ) -> Bool {
      let scale = length / Double(full)
      // A division's rounding is no missing pixel.
      return start + Double(range.lowerBound) * scale > -1e-6
        && start + Double(range.upperBound) * scale < Double(count) + 1e-6
    }
    return isInside(region.columns, of: fullSize.width, edges.x, edges.width, size.width)
      && isInside(region.rows, of: fullSize.height, edges.y, edges.height, size.height)
  }
}
