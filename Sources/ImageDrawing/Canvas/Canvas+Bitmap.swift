public import Pixels

extension Canvas {
  /// Draws the image in a bitmap.
  ///
  /// - Parameters:
  ///   - bitmap: In any pixel format. Colours of another space are converted to the canvas'.
  ///   - rect: Where, in points.
  ///   - scaling: How the image fits into `rect`.
  ///   - alignment: Which part is cut off, or where the rest of `rect` stays free.
  ///   - opacity: From 0 to 1.
  ///   - blendMode: How its colours mix with the canvas.
  ///   - interpolation: Where pixels come from at another size.
  /// - Throws: ``DrawingError/outOfMemory``.
  public mutating func draw(
    _ bitmap: Bitmap, in rect: Rect, scaling: Drawing.Scaling = .stretch,
    alignment: Drawing.Alignment = .center, opacity: Double = 1, blendMode: BlendMode = .normal,
    interpolation: Interpolation = .smooth
  ) throws(DrawingError) {
    guard rect.isDrawable, opacity > 0 else { return }
    let fullSize = bitmap.edges.fullSize
    let whole = Rect(x: 0, y: 0, width: Double(fullSize.width), height: Double(fullSize.height))
    let (shown, frame) = Self.place(whole, in: rect, scaling, alignment.bounded)
    let part = bitmap.edges.pixels(showing: shown)
    let style = PaintStyle(opacity: min(1, opacity), blendMode: blendMode)
    let source = try bitmap.inColorSpace(colorSpace)
    if transform.isUpright {
      try paintUpright(source, part, in: transform.bounds(of: frame), style, interpolation)
    } else {
      try paintTurned(source, part, in: frame, style, interpolation)
    }
  }

  /// How a bitmap's colours mix with the canvas.
  struct PaintStyle {
    var opacity: Double
    var blendMode: BlendMode
  }

  /// Which part of `whole` goes where in `rect`.
  private static func place(
    _ whole: Rect, in rect: Rect, _ scaling: Drawing.Scaling, _ alignment: Drawing.Alignment
  ) -> (part: Rect, frame: Rect) {
    /// The largest rectangle of some proportions within another.
    func fitted(_ shape: Rect, in frame: Rect) -> Rect {
      let isWider = shape.width * frame.height > shape.height * frame.width
      let width = isWider ? frame.width : frame.height * shape.width / shape.height
      let height = isWider ? frame.width * shape.height / shape.width : frame.height
      return Rect(
        x: frame.x + (frame.width - width) * alignment.x,
        y: frame.y + (frame.height - height) * alignment.y, width: width, height: height)
    }
    switch scaling {
    case .stretch: return (whole, rect)
    case .aspectFill: return (fitted(rect, in: whole), rect)
    case .aspectFit: return (whole, fitted(whole, in: rect))
    }
  }

  /// Scales with our own resampler to whole pixels and lets the context cut them at the edges of
  /// `frame`, which is in pixels.
  private func paintUpright(
    _ source: Bitmap, _ part: Rect, in frame: Rect, _ style: PaintStyle,
    _ interpolation: Interpolation
  ) throws(DrawingError) {
    let all = Rect(
      x: 0, y: 0, width: Double(pixelSize.width), height: Double(pixelSize.height))
    guard let visible = frame.intersection(all), Self.isVisible(frame.width, frame.height) else {
      return
    }
    // The whole pixels around the visible part of the frame; never more than the canvas.
    let left = Int(visible.x.rounded(.down))
    let top = Int(visible.y.rounded(.down))
    let size = PixelSize(
      width: Int(visible.maxX.rounded(.up)) - left, height: Int(visible.maxY.rounded(.up)) - top)
    // The part of the source under those pixels, perhaps beyond its border.
    let xStep = part.width / frame.width
    let yStep = part.height / frame.height
    let region = Rect(
      x: part.x + (Double(left) - frame.x) * xStep, y: part.y + (Double(top) - frame.y) * yStep,
      width: Double(size.width) * xStep, height: Double(size.height) * yStep)
    let scaled = try source.scaled(region, limits: part, to: size, interpolation)
    context.paint(
      scaled, Transform(tx: Double(left), ty: Double(top)), within: .rect(frame), style,
      isSmooth: false)
  }

  /// Whether an extent in pixels is large enough to change a byte, and small enough for the
  /// divisions and conversions to integers that follow.
  private static func isVisible(_ width: Double, _ height: Double) -> Bool {
    let extents = 1.0 / 1024...1e12
    return extents.contains(width) && extents.contains(height)
  }

  /// Turned or mirrored: our resampler shrinks, the context turns.
  private func paintTurned(
    _ source: Bitmap, _ part: Rect, in frame: Rect, _ style: PaintStyle,
    _ interpolation: Interpolation
  ) throws(DrawingError) {
    let stretch = transform.stretch
    guard Self.isVisible(frame.width * stretch.x, frame.height * stretch.y) else { return }
    func pixels(_ length: Double, _ available: Double) -> Int {
      max(1, Int(min(length, available).rounded(.up)))
    }
    let isSmooth = interpolation == .smooth
    let size = PixelSize(
      width: pixels(isSmooth ? frame.width * stretch.x : part.width, part.width),
      height: pixels(isSmooth ? frame.height * stretch.y : part.height, part.height))
    let scaled = try source.scaled(part, limits: part, to: size, interpolation)
    let toPoints = Transform(
      a: frame.width / Double(size.width), d: frame.height / Double(size.height), tx: frame.x,
      ty: frame.y)
    var outline = Path()
    for corner in frame.corners { outline.addLine(to: transform.applied(to: corner)) }
    outline.close()
    context.paint(
      scaled, toPoints.followed(by: transform), within: outline, style, isSmooth: isSmooth)
  }
}

extension Bitmap {
  /// A part of this bitmap at another size, as `.bgra32`.
  ///
  /// - Parameters:
  ///   - region: The part that becomes the result, in pixels; outside of `limits` the border is
  ///     repeated.
  ///   - limits: The pixels that may be read.
  fileprivate func scaled(
    _ region: Canvas.Rect, limits: Canvas.Rect, to size: PixelSize,
    _ interpolation: Canvas.Interpolation
  ) throws(DrawingError) -> Bitmap {
    let source = layout.format == .bgr16 ? try converted(to: .bgrx32) : self
    let resampler = try Resampler(
      layout: source.layout, region: region, limits: limits, size: size, interpolation)
    let row = try ScratchMemory(byteCount: size.width * resampler.bytesPerPixel)
    guard let layout = PixelLayout(size: size, format: .bgra32) else { throw .outOfMemory }
    do {
      return try Bitmap(layout: layout, colorSpace: colorSpace) { target in
        source.withUnsafeBytes { pixels in
          guard let target = target.baseAddress else { return }
          for y in 0..<size.height {
            resampler.writeRow(y, of: pixels, to: row.bytes)
            PixelRows.expand(
              row.bytes, format: source.layout.format, to: target + y * layout.rowBytes,
              count: size.width)
          }
        }
      }
    } catch {
      // The closure throws nothing, so the bitmap found no memory.
      throw .outOfMemory
    }
  }
}
