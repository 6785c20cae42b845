extension Canvas {
  /// An outline of lines and curves, in points.
  ///
  /// ```swift
  /// var triangle = Canvas.Path()
  /// triangle.move(to: Canvas.Point(x: 10, y: 0))
  /// triangle.addLine(to: Canvas.Point(x: 20, y: 20))
  /// triangle.addLine(to: Canvas.Point(x: 0, y: 20))
  /// triangle.close()
  /// ```
  public struct Path: Hashable, Sendable {
    enum Element: Hashable, Sendable {
      case move(Point)
      case line(Point)
      case curve(Point, control1: Point, control2: Point)
      case close
    }

    private(set) var elements: [Element] = []

    /// Creates an empty path.
    public init() {}

    /// The outline of a rectangle.
    public static func rect(_ rect: Rect) -> Path {
      var path = Path()
      path.addRect(rect)
      return path
    }

    /// The outline of a rectangle whose corners are quarters of a circle.
    ///
    /// - Parameters:
    ///   - rect: The rectangle.
    ///   - radius: In points; at most half of the shorter side is used.
    public static func roundedRect(_ rect: Rect, radius: Double) -> Path {
      var path = Path()
      let radius = max(0, min(radius, rect.width / 2, rect.height / 2))
      path.addRounded(rect, xRadius: radius, yRadius: radius)
      return path
    }

    /// The largest ellipse within a rectangle.
    public static func ellipse(in rect: Rect) -> Path {
      var path = Path()
      path.addRounded(rect, xRadius: rect.width / 2, yRadius: rect.height / 2)
      return path
    }

    /// Starts a new part of the outline.
    public mutating func move(to point: Point) {
      elements.append(.move(point))
    }

    /// Adds a straight line from the current point; without one, starts a part as ``move(to:)``
    /// does.
    public mutating func addLine(to point: Point) {
      elements.append(hasCurrentPoint ? .line(point) : .move(point))
    }

    /// Adds a cubic Bézier curve from the current point; without one, it starts at `control1`.
    public mutating func addCurve(to point: Point, control1: Point, control2: Point) {
      if !hasCurrentPoint { move(to: control1) }
      elements.append(.curve(point, control1: control1, control2: control2))
    }

    /// Adds a line to the start of the current part, and ends the part.
    public mutating func close() {
      if hasCurrentPoint { elements.append(.close) }
    }

    private mutating func addRect(_ rect: Rect) {
      move(to: Point(x: rect.x, y: rect.y))
      addLine(to: Point(x: rect.maxX, y: rect.y))
      addLine(to: Point(x: rect.maxX, y: rect.maxY))
      addLine(to: Point(x: rect.x, y: rect.maxY))
      close()
    }

    private var hasCurrentPoint: Bool {
      switch elements.last {
      case .move, .line, .curve: true
      case .close, nil: false
      }
    }

    /// Four sides and, clockwise from the upper right, four quarters of an ellipse.
    private mutating func addRounded(_ rect: Rect, xRadius: Double, yRadius: Double) {
      guard xRadius > 0, yRadius > 0 else {
        addRect(rect)
        return
      }
      // From a corner's tangents to the control points of the nearest cubic: 1 - 4/3 (√2 - 1).
      let near = 1 - 4 * (2.0.squareRoot() - 1) / 3
      let (x, y) = (xRadius, yRadius)
      let (left, top, right, bottom) = (rect.x, rect.y, rect.maxX, rect.maxY)
      move(to: Point(x: left + x, y: top))
      addLine(to: Point(x: right - x, y: top))
      addCurve(
        to: Point(x: right, y: top + y), control1: Point(x: right - near * x, y: top),
        control2: Point(x: right, y: top + near * y))
      addLine(to: Point(x: right, y: bottom - y))
      addCurve(
        to: Point(x: right - x, y: bottom), control1: Point(x: right, y: bottom - near * y),
        control2: Point(x: right - near * x, y: bottom))
      addLine(to: Point(x: left + x, y: bottom))
      addCurve(
        to: Point(x: left, y: bottom - y), control1: Point(x: left + near * x, y: bottom),
        control2: Point(x: left, y: bottom - near * y))
      addLine(to: Point(x: left, y: top + y))
      addCurve(
        to: Point(x: left + x, y: top), control1: Point(x: left, y: top + near * y),
        control2: Point(x: left + near * x, y: top))
      close()
    }
  }
}
