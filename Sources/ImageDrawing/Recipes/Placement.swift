package import Pixels

/// Which part of a source goes to which pixels of the output: aspect arithmetic without pixels.
///
/// The destination has whole pixels, so that an image never ends in a half transparent line; the
/// source makes up for it with fractions.
package struct Placement: Hashable, Sendable {
  /// In pixels of the full source.
  package var source: Canvas.Rect

  /// In pixels of the output.
  package var destination: ImageRegion

  package init(_ recipe: Drawing.Recipe, source: PixelSize, output: PixelSize) {
    let region = recipe.region(of: source)
    let alignment = recipe.alignment.bounded
    let width = Double(output.width)
    let height = Double(output.height)
    self.source = region
    destination = ImageRegion(output)
    // Cross multiplication keeps the side that fits exactly as it is, free of rounding.
    let isWiderThanOutput = region.width * height > region.height * width
    switch recipe.scaling {
    case .stretch: break
    case .aspectFill where isWiderThanOutput:
      self.source.width = region.height * width / height
      self.source.x += (region.width - self.source.width) * alignment.x
    case .aspectFill:
      self.source.height = region.width * height / width
      self.source.y += (region.height - self.source.height) * alignment.y
    case .aspectFit where isWiderThanOutput:
      let fitted = max(1, Int((width * region.height / region.width).rounded()))
      let y = Int((Double(output.height - fitted) * alignment.y).rounded())
      destination.rows = y..<y + fitted
    case .aspectFit:
      let fitted = max(1, Int((height * region.width / region.height).rounded()))
      let x = Int((Double(output.width - fitted) * alignment.x).rounded())
      destination.columns = x..<x + fitted
    }
  }
}

extension ImageEdges {
  /// A part of the full image in pixels of the bitmap.
  func pixels(showing part: Canvas.Rect) -> Canvas.Rect {
    let xScale = width / Double(fullSize.width)
    let yScale = height / Double(fullSize.height)
    return Canvas.Rect(
      x: x + part.x * xScale, y: y + part.y * yScale, width: part.width * xScale,
      height: part.height * yScale)
  }
}

extension Drawing.Recipe {
  /// The part of a source to use, in its pixels.
  func region(of source: PixelSize) -> Canvas.Rect {
    let part = crop?.intersection(Canvas.Rect(x: 0, y: 0, width: 1, height: 1))
    let unit = part ?? Canvas.Rect(x: 0, y: 0, width: 1, height: 1)
    let width = Double(source.width)
    let height = Double(source.height)
    return Canvas.Rect(
      x: unit.x * width, y: unit.y * height, width: unit.width * width,
      height: unit.height * height)
  }
}

extension Drawing {
  /// The size of the image that this drawing makes of a source.
  ///
  /// - Parameters:
  ///   - source: The whole upright source, in pixels.
  ///   - slot: The size of the format, in pixels.
  ///   - upTo: Whether an image keeps its own proportions and stays within the slot; it is then
  ///     not enlarged either. Otherwise every image fills the slot.
  package func outputSize(source: PixelSize, slot: PixelSize, upTo: Bool) -> PixelSize {
    guard upTo else { return slot }
    let region = recipeForArithmetic.region(of: source)
    let scale = min(1, Double(slot.width) / region.width, Double(slot.height) / region.height)
    func fitted(_ side: Double, _ limit: Int) -> Int {
      max(1, min(Int((side * scale).rounded()), Int(side), limit))
    }
    return PixelSize(
      width: fitted(region.width, slot.width), height: fitted(region.height, slot.height))
  }

  /// The smallest decoded size of a source that shows this drawing one pixel to one.
  ///
  /// - Returns: The size of the whole upright source, not of its crop; never more than `source`.
  package func minimumSourceSize(
    source: PixelSize, slot: PixelSize, upTo: Bool
  ) -> PixelSize {
    let placement = placement(source: source, slot: slot, upTo: upTo)
    func needed(_ whole: Int, _ part: Double, _ drawn: Int) -> Int {
      // Far below a pixel, and above the rounding of the division.
      let exact = (Double(whole) * (Double(drawn) / part) - 1e-6).rounded(.up)
      return max(1, Int(min(Double(whole), exact)))
    }
    return PixelSize(
      width: needed(source.width, placement.source.width, placement.destination.columns.count),
      height: needed(source.height, placement.source.height, placement.destination.rows.count))
  }

  /// Whether a source has a pixel for each that this drawing shows of it: a larger one would not make a better
  /// image.
  package func isCovered(by source: PixelSize, slot: PixelSize, upTo: Bool) -> Bool {
    guard source.width > 0, source.height > 0 else { return false }
    if upTo {
      let region = recipeForArithmetic.region(of: source)
      return region.width >= Double(slot.width) || region.height >= Double(slot.height)
    }
    let placement = placement(source: source, slot: slot, upTo: false)
    // Above the rounding of the division.
    return placement.source.width + 1e-6 >= Double(placement.destination.columns.count)
      && placement.source.height + 1e-6 >= Double(placement.destination.rows.count)
  }

  /// The pixels of a source that this drawing reads: for a closure all of them, since it may draw any.
  ///
  /// - Returns: Whole pixels of the upright source.
  package func sourceRegion(source: PixelSize, slot: PixelSize, upTo: Bool) -> ImageRegion {
    guard case .recipe = content else { return ImageRegion(source) }
    let part = placement(source: source, slot: slot, upTo: upTo).source
    func pixels(_ start: Double, _ end: Double, _ count: Int) -> Range<Int> {
      let first = max(0, min(Int(start.rounded(.down)), count - 1))
      return first..<max(first + 1, min(Int(end.rounded(.up)), count))
    }
    return ImageRegion(
      columns: pixels(part.x, part.maxX, source.width),
      rows: pixels(part.y, part.maxY, source.height))
  }

  /// Where the parts of a source go in the output.
  package func placement(source: PixelSize, slot: PixelSize, upTo: Bool) -> Placement {
    Placement(
      upTo ? recipeForArithmetic.stretched : recipeForArithmetic, source: source,
      output: outputSize(source: source, slot: slot, upTo: upTo))
  }

  /// The recipe; for a closure, one that fills the slot with the whole source.
  private var recipeForArithmetic: Recipe {
    switch content {
    case .recipe(let recipe): recipe
    case .closure: Recipe(scaling: .aspectFill)
    }
  }
}

extension Drawing.Recipe {
  /// This recipe for an output in the image's own proportions but for rounding, where nothing may
  /// be cut off or left over.
  var stretched: Drawing.Recipe {
    var recipe = self
    recipe.scaling = .stretch
    return recipe
  }
}
