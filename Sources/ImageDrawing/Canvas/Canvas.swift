public import Pixels

/// An image that a drawing closure draws on; it starts out empty.
///
/// Lengths and places are in points, counted from the top left corner to the right and downwards;
/// ``scale`` says how many pixels a point has. Edges are antialiased. The same calls give the same
/// image on Linux, with Cairo, and on Apple platforms, with CoreGraphics: pixels of bitmaps are
/// scaled by the same code, while curves and blends may differ by a few of 255 steps at edges.
///
/// A canvas lives as long as the call of its closure. It is neither copyable nor sendable, so it
/// cannot leave that call by itself. A closure that exchanges its canvas for another one, with
/// `swap(_:_:)` within a nested drawing, traps when it returns or throws.
public struct Canvas: ~Copyable {
  /// Width and height in points.
  public let size: Size

  /// Pixels to a point.
  public let scale: Double

  /// Width and height in pixels.
  public let pixelSize: PixelSize

  /// The space of the pixels, in which colours are mixed: the format's of the image that is drawn.
  ///
  /// A ``Color`` and a bitmap of another space are converted. A native context takes numbers for colours of
  /// this space on Linux, and converts on Apple platforms.
  public let colorSpace: ColorSpace

  let context: CanvasContext

  /// The memory that the context draws into, to tell this canvas from others.
  private let pixels: UnsafeMutableRawPointer

  /// From current points to pixels; the context holds the same transform.
  var transform: Transform

  /// - Parameters:
  ///   - pixels: `size.height` rows of zeroed `.bgra32` that outlive the canvas.
  ///   - rowBytes: Bytes from row to row, a multiple of four.
  ///   - colorSpace: The pixels'.
  init(
    pixels: UnsafeMutableRawPointer, size: PixelSize, rowBytes: Int, colorSpace: ColorSpace,
    scale: Double
  ) throws(DrawingError) {
    context = try CanvasContext(
      pixels: pixels, size: size, rowBytes: rowBytes, colorSpace: colorSpace)
    self.colorSpace = colorSpace
    self.pixels = pixels
    self.size = Size(width: Double(size.width) / scale, height: Double(size.height) / scale)
    self.scale = scale
    pixelSize = size
    transform = Transform()
    concatenate(.scale(x: scale, y: scale))
  }

  /// The whole canvas, as long as it is neither moved, scaled nor turned.
  public var bounds: Rect { Rect(x: 0, y: 0, width: size.width, height: size.height) }

  /// Makes everything transparent within the clip.
  public mutating func clear() { context.clear(nil) }

  /// Makes a rectangle transparent.
  public mutating func clear(_ rect: Rect) { context.clear(.rect(rect)) }

  /// Covers everything within the clip with a colour.
  public mutating func fill(_ color: Color, blendMode: BlendMode = .normal) {
    context.fill(nil, color.converted(to: colorSpace), blendMode)
  }

  /// Fills a rectangle.
  public mutating func fill(_ rect: Rect, with color: Color, blendMode: BlendMode = .normal) {
    context.fill(.rect(rect), color.converted(to: colorSpace), blendMode)
  }

  /// Fills the inside of a path, by the non-zero winding rule; open parts count as closed.
  public mutating func fill(
    _ path: Path, with color: Color, blendMode: BlendMode = .normal
  ) {
    context.fill(path, color.converted(to: colorSpace), blendMode)
  }

  /// Draws along a path, with straight ends and pointed corners.
  ///
  /// - Parameters:
  ///   - path: The middle of the line.
  ///   - color: The line's colour.
  ///   - lineWidth: In points.
  ///   - blendMode: How its colour mixes with the canvas.
  public mutating func stroke(
    _ path: Path, with color: Color, lineWidth: Double,
    blendMode: BlendMode = .normal
  ) {
    context.stroke(path, lineWidth, color.converted(to: colorSpace), blendMode)
  }

  /// Lets later calls draw within a rectangle only, until the saved state ends.
  public mutating func clip(to rect: Rect) { context.clip(.rect(rect)) }

  /// Lets later calls draw only inside of a path, until the saved state ends.
  public mutating func clip(to path: Path) {
    context.clip(path)
  }

  /// Moves the origin.
  public mutating func translate(x: Double, y: Double) {
    concatenate(.translation(x: x, y: y))
  }

  /// Makes a point as many times as wide and as high; negative numbers mirror, zero is a mistake.
  public mutating func scale(x: Double, y: Double) {
    precondition(x != 0 && y != 0, "A canvas cannot be scaled by zero.")
    concatenate(.scale(x: x, y: y))
  }

  /// Turns the axes clockwise about the origin.
  public mutating func rotate(degrees: Double) {
    concatenate(.rotation(degrees: degrees))
  }

  /// Runs `body` and then undoes its clips, moves, scales and turns; the drawn pixels stay.
  public mutating func withSavedState<Result, Failure: Error>(
    _ body: (inout Canvas) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let saved = transform
    context.save()
    defer {
      context.restore()
      transform = saved
    }
    return try body(&self)
  }

  /// Traps if this is another canvas than the one made for `pixels`.
  ///
  /// A canvas that left its closure would draw into memory that was given back. The maker calls this
  /// after the closure, while its own memory is still there.
  func checkIdentity(_ pixels: UnsafeMutableRawPointer) {
    let isSame = self.pixels == pixels
    precondition(isSame, "A drawing closure must not exchange its canvas for another one.")
  }

  /// Ends the drawing; the pixels are complete afterwards.
  func finish() throws(DrawingError) { try context.finish() }

  private mutating func concatenate(_ inner: Transform) {
    transform = inner.followed(by: transform)
    context.concatenate(inner)
  }
}
