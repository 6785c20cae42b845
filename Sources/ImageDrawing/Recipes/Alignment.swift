extension Drawing {
  /// Where an image lies in a frame of other proportions.
  ///
  /// ``x`` is the share of the leftover or cut off width that lies to the left of the image.
  /// ``y`` is the share of the height above it.
  public struct Alignment: Hashable, Sendable {
    /// From 0, at the left edge, to 1, at the right one.
    public var x: Double

    /// From 0, at the top edge, to 1, at the bottom one.
    public var y: Double

    /// Creates an alignment; numbers outside of 0...1 count as the nearer bound.
    public init(x: Double, y: Double) {
      self.x = x
      self.y = y
    }

    /// At the upper left corner.
    public static let topLeft = Alignment(x: 0, y: 0)
    /// In the middle of the upper edge.
    public static let top = Alignment(x: 0.5, y: 0)
    /// At the upper right corner.
    public static let topRight = Alignment(x: 1, y: 0)
    /// In the middle of the left edge.
    public static let left = Alignment(x: 0, y: 0.5)
    /// In the middle.
    public static let center = Alignment(x: 0.5, y: 0.5)
    /// In the middle of the right edge.
    public static let right = Alignment(x: 1, y: 0.5)
    /// At the lower left corner.
    public static let bottomLeft = Alignment(x: 0, y: 1)
    /// In the middle of the lower edge.
    public static let bottom = Alignment(x: 0.5, y: 1)
    /// At the lower right corner.
    public static let bottomRight = Alignment(x: 1, y: 1)

    /// This alignment with both shares between 0 and 1.
    var bounded: Alignment {
      Alignment(x: max(0, min(1, x)), y: max(0, min(1, y)))
    }
  }
}
