public import ImageDrawing

extension Canvas {
  /// Draws an image of the cache, as ``draw(_:in:scaling:alignment:opacity:blendMode:interpolation:)``
  /// draws a bitmap.
  ///
  /// ```swift
  /// let left = try await cache.image(for: photos[0], format: .row)
  /// let right = try await cache.image(for: photos[1], format: .row)
  /// let sheet = try Bitmap(size: PixelSize(width: 400, height: 200)) { canvas in
  ///   try canvas.draw(left, in: Canvas.Rect(x: 0, y: 0, width: 200, height: 200))
  ///   try canvas.draw(right, in: Canvas.Rect(x: 200, y: 0, width: 200, height: 200))
  /// }
  /// ```
  ///
  /// The pixels are copied once. A drawing closure of an entity may draw images that it was given,
  /// but must not wait for them; see ``Drawing/custom(_:)``.
  ///
  /// - Parameters:
  ///   - image: In any pixel format.
  ///   - rect: Where, in points.
  ///   - scaling: How it meets the proportions of `rect`.
  ///   - alignment: Which part is cut off, or where the rest of `rect` stays free.
  ///   - opacity: From 0 to 1.
  ///   - blendMode: How it meets what is on the canvas.
  ///   - interpolation: Where pixels come from at another size.
  /// - Throws: ``DrawingError/outOfMemory``.
  public mutating func draw(
    _ image: CachedImage, in rect: Rect, scaling: Drawing.Scaling = .stretch,
    alignment: Drawing.Alignment = .center, opacity: Double = 1, blendMode: BlendMode = .normal,
    interpolation: Interpolation = .smooth
  ) throws(DrawingError) {
    // A copy fails for no other reason.
    guard let bitmap = try? image.makeBitmap() else { throw .outOfMemory }
    try draw(
      bitmap, in: rect, scaling: scaling, alignment: alignment, opacity: opacity,
      blendMode: blendMode, interpolation: interpolation)
  }
}
