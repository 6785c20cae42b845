package import Pixels

extension Drawing {
  /// Draws a source into the bytes of a slot.
  ///
  /// Computes for milliseconds and runs the drawing's closure: call it on a thread for long work.
  ///
  /// - Parameters:
  ///   - source: Upright, in any format; its colours are converted after scaling, or before a closure sees
  ///     it.
  ///   - destination: At least `layout.byteCount` bytes. Every byte is written: pixels, and zeros
  ///     between the rows. After an error their content is undefined.
  ///   - layout: The destination's; its size is the result of ``outputSize(source:slot:upTo:)``.
  ///   - colorSpace: The destination's.
  ///   - scale: Pixels to a point.
  ///   - upTo: As for ``outputSize(source:slot:upTo:)``.
  ///   - isCancelled: Asked before each row, before and after a closure, and before each filter.
  package func draw(
    _ source: Bitmap, into destination: UnsafeMutableRawBufferPointer, layout: PixelLayout,
    colorSpace: ColorSpace = .sRGB, scale: Double, upTo: Bool, isCancelled: () -> Bool
  ) throws(DrawingError) {
    guard destination.count >= layout.byteCount, let output = destination.baseAddress else {
      preconditionFailure("A drawing needs \(layout.byteCount) bytes, not \(destination.count).")
    }
    if isCancelled() { throw .cancelled }
    let filters = filters.filter { !$0.isNeutral }
    guard !filters.isEmpty, layout.format.bytesPerPixel != 4 else {
      try paint(source, output, layout, colorSpace, scale, upTo: upTo, isCancelled: isCancelled)
      return try Self.apply(
        filters, output, layout, colorSpace, scale, isCancelled: isCancelled)
    }
    // Filters work on pixels of four bytes.
    guard let wide = PixelLayout(size: layout.size, format: .bgrx32) else { throw .outOfMemory }
    let pixels = try ScratchMemory(byteCount: wide.byteCount)
    try paint(source, pixels.bytes, wide, colorSpace, scale, upTo: upTo, isCancelled: isCancelled)
    try Self.apply(filters, pixels.bytes, wide, colorSpace, scale, isCancelled: isCancelled)
    PixelRows.convert(pixels.bytes, rowBytes: wide.rowBytes, to: layout, output)
  }

  private static func apply(
    _ filters: [Filter], _ output: UnsafeMutableRawPointer, _ layout: PixelLayout,
    _ colorSpace: ColorSpace, _ scale: Double, isCancelled: () -> Bool
  ) throws(DrawingError) {
    guard !filters.isEmpty else { return }
    let pixels = FilteredPixels(output, layout: layout, colorSpace: colorSpace, scale: scale)
    for filter in filters {
      if isCancelled() { throw .cancelled }
      try pixels.apply(filter)
    }
  }

  /// Draws without the filters.
  private func paint(
    _ source: Bitmap, _ output: UnsafeMutableRawPointer, _ layout: PixelLayout,
    _ colorSpace: ColorSpace, _ scale: Double, upTo: Bool, isCancelled: () -> Bool
  ) throws(DrawingError) {
    switch content {
    case .recipe(let recipe):
      let source =
        source.layout.format == .bgr16 ? try source.converted(to: .bgrx32) : source
      let painter = try RecipePainter(
        upTo ? recipe.stretched : recipe, source: source, layout: layout, colorSpace: colorSpace,
        scale: scale)
      try painter.paint(output, isCancelled: isCancelled)
    case .closure(let closure):
      try Self.run(
        closure.draw, source.inColorSpace(colorSpace), layout: layout, colorSpace: colorSpace,
        scale: scale, output, isCancelled: isCancelled)
    }
  }

  private static func run(
    _ closure: Closure, _ source: Bitmap, layout: PixelLayout, colorSpace: ColorSpace,
    scale: Double, _ output: UnsafeMutableRawPointer, isCancelled: () -> Bool
  ) throws(DrawingError) {
    let size = layout.size
    let rowBytes = size.width * 4
    let pixels = try ScratchMemory(byteCount: rowBytes * size.height)
    var canvas = try Canvas(
      pixels: pixels.bytes, size: size, rowBytes: rowBytes, colorSpace: colorSpace, scale: scale)
    defer { canvas.checkIdentity(pixels.bytes) }
    if isCancelled() { throw .cancelled }
    do {
      try closure(source, &canvas)
    } catch is CancellationError {
      throw .cancelled
    } catch {
      throw .closureFailed(error)
    }
    try canvas.finish()
    if isCancelled() { throw .cancelled }

    PixelRows.convert(pixels.bytes, rowBytes: rowBytes, to: layout, output)
  }
}

extension Bitmap {
  /// The same image in `.bgra32` or `.bgrx32`, its colour conversion still attached.
  func converted(to format: PixelFormat) throws(DrawingError) -> Bitmap {
    guard layout.format != format else { return self }
    return try copy(format, colorSpace, colorConversion) { source, target in
      PixelRows.expand(source, format: layout.format, to: target, count: size.width)
    }
  }

  /// The conversion that brings the pixels into a space, ready for rows; `nil` where they are in it already.
  func preparedConversion(to space: ColorSpace) throws(DrawingError) -> (any ColorConversion)? {
    guard let conversion = conversion(to: space) else { return nil }
    guard conversion.prepare(for: space) else { throw .outOfMemory }
    return conversion
  }

  /// The same image with its colours in a space.
  package func inColorSpace(_ space: ColorSpace) throws(DrawingError) -> Bitmap {
    guard let conversion = try preparedConversion(to: space) else { return self }
    let format: PixelFormat = layout.format == .bgr16 ? .bgrx32 : layout.format
    let convertible = layout.format == .bgr16 ? try converted(to: .bgrx32) : self
    let usedBytes = size.width * format.bytesPerPixel
    return try convertible.copy(format, space, nil) { source, target in
      target.copyMemory(from: source, byteCount: usedBytes)
      conversion.convertRow(target, pixelCount: size.width, format: format, to: space)
    }
  }

  /// A bitmap of the same size whose rows `write` makes from this one's.
  private func copy(
    _ format: PixelFormat, _ colorSpace: ColorSpace, _ colorConversion: (any ColorConversion)?,
    write: (_ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) -> Void
  ) throws(DrawingError) -> Bitmap {
    guard let layout = PixelLayout(size: size, format: format) else { throw .outOfMemory }
    do {
      var copy = try Bitmap(
        layout: layout, colorConversion: colorConversion, edges: edges, colorSpace: colorSpace
      ) { target in
        withUnsafeBytes { source in
          guard let target = target.baseAddress, let source = source.baseAddress else { return }
          for y in 0..<size.height {
            write(source + y * self.layout.rowBytes, target + y * layout.rowBytes)
          }
        }
      }
      copy.isDamaged = isDamaged
      return copy
    } catch {
      // The closure throws nothing, so the bitmap found no memory.
      throw .outOfMemory
    }
  }
}
