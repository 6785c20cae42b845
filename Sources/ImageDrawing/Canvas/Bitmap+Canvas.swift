public import Pixels

extension Bitmap {
  /// Draws an image that no table holds: a contact sheet, a badge, a placeholder.
  ///
  /// ```swift
  /// let dot = try Bitmap(size: PixelSize(width: 32, height: 32), scale: 2) { canvas in
  ///   canvas.fill(.ellipse(in: canvas.bounds), with: .white)
  /// }
  /// ```
  ///
  /// Runs on its caller's thread and blocks it. The result is in ``PixelFormat/bgra32``.
  ///
  /// - Parameters:
  ///   - size: In pixels.
  ///   - scale: Pixels to a point, positive and finite; the canvas counts in points.
  ///   - colorSpace: The result's, in which colours are mixed.
  ///   - draw: Draws on a canvas that starts out transparent.
  /// - Throws: ``BitmapError``; ``DrawingError/canvasUnavailable``, see ``Drawing/custom(_:)``;
  ///   ``DrawingError/canvasFailed(_:)``; ``DrawingError/outOfMemory``; and the errors of `draw`, as
  ///   they are.
  public init(
    size: PixelSize, scale: Double = 1, colorSpace: ColorSpace = .sRGB,
    drawing draw: (inout Canvas) throws -> Void
  ) throws {
    guard scale > 0, scale.isFinite else { throw BitmapError.invalidScale(scale) }
    try self.init(size: size, format: .bgra32, colorSpace: colorSpace) { bytes, layout in
      guard let pixels = bytes.baseAddress else { return }
      var canvas = try Canvas(
        pixels: pixels, size: size, rowBytes: layout.rowBytes, colorSpace: colorSpace, scale: scale)
      defer { canvas.checkIdentity(pixels) }
      try draw(&canvas)
      try canvas.finish()
    }
  }
}

extension PixelSize {
  /// Whole pixels; zero where a side is no number that has them, which no bitmap or table takes.
  package init(_ points: Canvas.Size, scale: Double) {
    func pixels(_ side: Double) -> Int { Int(exactly: (side * scale).rounded()) ?? 0 }
    self.init(width: pixels(points.width), height: pixels(points.height))
  }
}
