/// A list of rows of cells, and the rows that each frame of scrolling brings into view.
package struct ScrollGeometry: Hashable, Sendable {
  /// Rows on screen at a time, where the list has enough of them.
  package static let usualVisibleRows = 12

  package let columnCount: Int
  package let rowCount: Int

  /// In pixels.
  package let rowHeight: Int

  /// In pixels a frame.
  package let speed: Int

  /// Rows that fit on the screen: the usual number, or half of a short list, so that every list
  /// scrolls.
  package let visibleRowCount: Int

  /// - Parameters:
  ///   - columnCount: At least 1.
  ///   - rowCount: At least 2.
  ///   - rowHeight: In pixels, at least 1.
  ///   - speed: In pixels a frame, at least 1.
  package init(columnCount: Int, rowCount: Int, rowHeight: Int, speed: Int) {
    precondition(
      columnCount >= 1 && rowCount >= 2 && rowHeight >= 1 && speed >= 1,
      "A list needs a column, two rows, and a speed to be scrolled.")
    self.columnCount = columnCount
    self.rowCount = rowCount
    self.rowHeight = rowHeight
    self.speed = speed
    visibleRowCount = min(Self.usualVisibleRows, rowCount / 2)
  }

  package var cellCount: Int { columnCount * rowCount }

  /// How far the list can be scrolled, in pixels.
  private var distance: Int { (rowCount - visibleRowCount) * rowHeight }

  /// Frames from the first movement to the one that reaches the end.
  package var frameCount: Int { (distance + speed - 1) / speed }

  /// The rows of which at least one pixel is on screen in a frame; frame 0 is the list at rest.
  package func visibleRows(inFrame frame: Int) -> Range<Int> {
    let top = min(frame * speed, distance)
    let bottom = top + visibleRowCount * rowHeight
    return (top / rowHeight)..<min((bottom + rowHeight - 1) / rowHeight, rowCount)
  }

  package func cells(inRows rows: Range<Int>) -> Range<Int> {
    (rows.lowerBound * columnCount)..<(rows.upperBound * columnCount)
  }
}
