#if !canImport(CoreGraphics) && !(Cairo && canImport(CCanvas))
  import Pixels

  /// The canvas of builds without a library to draw with. No value of this type can exist, and the
  /// compiler knows.
  ///
  /// Code with drawing closures compiles unchanged; making their canvas fails.
  struct CanvasContext: ~Copyable {
    private let absent: Never

    init(
      pixels: UnsafeMutableRawPointer, size: PixelSize, rowBytes: Int, colorSpace: ColorSpace
    ) throws(DrawingError) {
      throw .canvasUnavailable
    }

    func save() { switch absent {} }
    func restore() { switch absent {} }
    func concatenate(_ transform: Canvas.Transform) { switch absent {} }
    func clear(_ path: Canvas.Path?) { switch absent {} }
    func clip(_ path: Canvas.Path) { switch absent {} }
    func finish() throws(DrawingError) { switch absent {} }

    func fill(
      _ path: Canvas.Path?, _ color: Canvas.Color, _ blendMode: Canvas.BlendMode
    ) { switch absent {} }

    func stroke(
      _ path: Canvas.Path, _ lineWidth: Double, _ color: Canvas.Color,
      _ blendMode: Canvas.BlendMode
    ) { switch absent {} }

    func paint(
      _ bitmap: Bitmap, _ transform: Canvas.Transform, within outline: Canvas.Path,
      _ style: Canvas.PaintStyle, isSmooth: Bool
    ) { switch absent {} }
  }
#endif
