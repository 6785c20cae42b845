import Pixels

/// Carries out one recipe: scale, convert the colours, cut the corners, lay the background under,
/// write the pixel format; row by row, so that everything but the source stays in the processor's cache.
struct RecipePainter: ~Copyable {
  private let source: Bitmap
  private let placement: Placement
  private let layout: PixelLayout
  private let colorSpace: ColorSpace
  private let conversion: (any ColorConversion)?
  private let background: SIMD4<UInt8>
  private let mask: CornerMask?
  private let resampler: Resampler

  /// One row as resampled, then as blue, green, red, alpha; and the coverage of its left half.
  private let row: ScratchMemory
  private let expanded: ScratchMemory
  private let coverage: ScratchMemory

  /// - Parameters:
  ///   - source: In any format but ``PixelFormat/bgr16``.
  ///   - layout: The output's.
  ///   - colorSpace: The output's.
  ///   - scale: Pixels to a point.
  init(
    _ recipe: Drawing.Recipe, source: Bitmap, layout: PixelLayout, colorSpace: ColorSpace,
    scale: Double
  ) throws(DrawingError) {
    let placement = Placement(recipe, source: source.edges.fullSize, output: layout.size)
    let image = placement.destination
    let size = PixelSize(width: image.columns.count, height: image.rows.count)
    let region = source.edges.pixels(showing: placement.source)
    // Everything that can fail comes first, as in `Resampler`.
    let resampler = try Resampler(
      layout: source.layout, region: region, limits: region, size: size)
    let row = try ScratchMemory(byteCount: size.width * resampler.bytesPerPixel)
    let expanded = try ScratchMemory(byteCount: layout.size.width * 4)
    let coverage = try ScratchMemory(byteCount: size.width)
    conversion = try source.preparedConversion(to: colorSpace)

    self.source = source
    self.placement = placement
    self.layout = layout
    self.colorSpace = colorSpace
    background = recipe.background.converted(to: colorSpace).premultiplied
    mask = CornerMask(recipe.corners, size: size, scale: scale)
    self.resampler = resampler
    self.row = row
    self.expanded = expanded
    self.coverage = coverage
  }

  /// Writes every byte of the output.
  func paint(
    _ output: UnsafeMutableRawPointer, isCancelled: () -> Bool
  ) throws(DrawingError) {
    let format = layout.format
    let used = layout.size.width * format.bytesPerPixel
    try source.withUnsafeBytes { (pixels) throws(DrawingError) in
      for y in 0..<layout.size.height {
        if isCancelled() { throw .cancelled }
        let target = output + y * layout.rowBytes
        if isDirect {
          resampler.writeRow(y, of: pixels, to: target)
          convertColors(target)
          if source.layout.format == .bgrx32 {
            // In place: the source's fourth bytes may have any value.
            PixelRows.expand(target, format: .bgrx32, to: target, count: layout.size.width)
          }
        } else {
          compose(y, pixels)
          PixelRows.convert(expanded.bytes, to: format, target, count: layout.size.width)
        }
        (target + used).initializeMemory(
          as: UInt8.self, repeating: 0, count: layout.rowBytes - used)
      }
    }
  }

  /// Whether the resampled rows are the output's.
  private var isDirect: Bool {
    guard mask == nil, placement.destination.columns.count == layout.size.width,
      placement.destination.rows.count == layout.size.height
    else { return false }
    switch (source.layout.format, layout.format) {
    case (.gray8, .gray8), (.bgrx32, .bgrx32), (.bgrx32, .bgra32): return true
    case (.bgra32, .bgra32): return background == SIMD4(repeating: 0)
    default: return false
    }
  }

  /// Makes a row of the output in `expanded`.
  private func compose(_ y: Int, _ pixels: UnsafeRawBufferPointer) {
    let image = placement.destination
    let isCovered = image.rows.contains(y) && image.columns.count == layout.size.width
    if !isCovered { PixelRows.fill(expanded.bytes, with: background, count: layout.size.width) }
    guard image.rows.contains(y) else { return }
    let line = y - image.rows.lowerBound

    resampler.writeRow(line, of: pixels, to: row.bytes)
    convertColors(row.bytes)
    let target = expanded.bytes + image.columns.lowerBound * 4
    PixelRows.expand(
      row.bytes, format: source.layout.format, to: target, count: image.columns.count)
    if let mask { cut(mask, line, target) }
    guard background != SIMD4(repeating: 0), mask != nil || source.layout.format.hasAlpha else {
      return
    }
    PixelRows.lay(background, under: target, count: image.columns.count)
  }

  private func cut(_ mask: CornerMask, _ line: Int, _ target: UnsafeMutableRawPointer) {
    let width = placement.destination.columns.count
    let left = coverage.bytes.assumingMemoryBound(to: UInt8.self)
    let count = mask.writeCoverage(ofRow: line, to: left)
    PixelRows.cover(target, with: left, count: count)
    // The mirror image, without a middle pixel that both halves share.
    for x in 0..<min(count, width / 2) {
      PixelRows.cover(target + (width - 1 - x) * 4, with: left + x, count: 1)
    }
  }

  /// Turns the resampled pixels of a row into the output's colours, if they are others.
  private func convertColors(_ row: UnsafeMutableRawPointer) {
    conversion?.convertRow(
      row, pixelCount: placement.destination.columns.count, format: source.layout.format,
      to: colorSpace)
  }
}
