extension Canvas {
  /// A place on a canvas.
  public struct Point: Hashable, Sendable {
    /// Points from the left edge.
    public var x: Double

    /// Points from the top edge, downwards.
    public var y: Double

    /// Creates a point from its distances to the left and to the top edge.
    public init(x: Double, y: Double) {
      self.x = x
      self.y = y
    }
  }

  /// A width and a height in points.
  public struct Size: Hashable, Sendable {
    /// Points from left to right.
    public var width: Double

    /// Points from top to bottom.
    public var height: Double

    /// Creates a size.
    public init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  /// An upright rectangle, given by its top left corner.
  ///
  /// Its unit is the point on a canvas. ``Drawing`` uses it for a part of a source, too, where the
  /// whole image reaches from 0 to 1 in both directions.
  public struct Rect: Hashable, Sendable {
    /// The left edge.
    public var x: Double

    /// The top edge.
    public var y: Double

    /// The distance from the left edge to the right one.
    public var width: Double

    /// The distance from the top edge to the bottom one.
    public var height: Double

    /// Creates a rectangle from its top left corner and its extent.
    public init(x: Double, y: Double, width: Double, height: Double) {
      self.x = x
      self.y = y
      self.width = width
      self.height = height
    }

    /// The right edge.
    public var maxX: Double { x + width }

    /// The bottom edge.
    public var maxY: Double { y + height }

    /// The rectangle whose edges lie `distance` further inside; negative distances enlarge it.
    ///
    /// An extent that would become negative is zero, about the same middle.
    public func inset(by distance: Double) -> Rect {
      let inner = (width: max(0, width - 2 * distance), height: max(0, height - 2 * distance))
      return Rect(
        x: x + (width - inner.width) / 2, y: y + (height - inner.height) / 2, width: inner.width,
        height: inner.height)
    }

    /// Whether all four numbers are finite and the rectangle holds anything.
    var isDrawable: Bool {
      x.isFinite && y.isFinite && width.isFinite && height.isFinite && width > 0 && height > 0
    }

    var corners: [Point] {
      [
        Point(x: x, y: y), Point(x: maxX, y: y), Point(x: maxX, y: maxY), Point(x: x, y: maxY),
      ]
    }

    func intersection(_ other: Rect) -> Rect? {
      let left = max(x, other.x)
      let top = max(y, other.y)
      let common = Rect(
        x: left, y: top, width: min(maxX, other.maxX) - left, height: min(maxY, other.maxY) - top)
      return common.isDrawable ? common : nil
    }
  }
}
