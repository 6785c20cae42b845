#if canImport(CoreGraphics)
  public import CoreGraphics
  import Pixels

  /// CoreGraphics' side of a ``Canvas``, drawing into memory that the canvas' maker owns.
  struct CanvasContext: ~Copyable {
    fileprivate let context: CGContext
    private let colorSpace: CGColorSpace
    private let height: CGFloat

    init(
      pixels: UnsafeMutableRawPointer, size: PixelSize, rowBytes: Int, colorSpace: ColorSpace
    ) throws(DrawingError) {
      guard let colorSpace = colorSpace.cgColorSpace,
        let context = CGContext(
          data: pixels, width: size.width, height: size.height, bitsPerComponent: 8,
          bytesPerRow: rowBytes, space: colorSpace, bitmapInfo: Self.bitmapInfo)
      else { throw .canvasFailed("CoreGraphics makes no context of \(size).") }
      self.context = context
      self.colorSpace = colorSpace
      height = CGFloat(size.height)
      context.concatenate(flip)
    }

    /// `.bgra32`: alpha first in a word whose least significant byte comes first.
    private static var bitmapInfo: UInt32 {
      CGImageAlphaInfo.premultipliedFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue
    }

    /// From pixels counted from the top to CoreGraphics' pixels, counted from the bottom.
    private var flip: CGAffineTransform {
      CGAffineTransform(a: 1, b: 0, c: 0, d: -1, tx: 0, ty: height)
    }

    func save() { context.saveGState() }

    func restore() { context.restoreGState() }

    func concatenate(_ transform: Canvas.Transform) { context.concatenate(transform.affine) }

    func clear(_ path: Canvas.Path?) {
      paint(path, .black, .clear)
    }

    func fill(
      _ path: Canvas.Path?, _ color: Canvas.Color, _ blendMode: Canvas.BlendMode
    ) {
      paint(path, color, blendMode.coreGraphicsMode)
    }

    func stroke(
      _ path: Canvas.Path, _ lineWidth: Double, _ color: Canvas.Color,
      _ blendMode: Canvas.BlendMode
    ) {
      guard let color = CGColor(colorSpace: colorSpace, components: color.components) else {
        return
      }
      context.saveGState()
      context.setStrokeColor(color)
      context.setBlendMode(blendMode.coreGraphicsMode)
      context.setLineWidth(CGFloat(lineWidth))
      append(path)
      context.strokePath()
      context.restoreGState()
    }

    func clip(_ path: Canvas.Path) {
      append(path)
      context.clip()
    }

    /// Draws `.bgra32` pixels.
    ///
    /// - Parameters:
    ///   - bitmap: The pixels.
    ///   - transform: From its pixels to the canvas'.
    ///   - outline: The part that is drawn, in pixels of the canvas.
    ///   - style: Opacity and blend mode.
    ///   - isSmooth: Whether to interpolate between its pixels.
    func paint(
      _ bitmap: Bitmap, _ transform: Canvas.Transform, within outline: Canvas.Path,
      _ style: Canvas.PaintStyle, isSmooth: Bool
    ) {
      guard let image = image(bitmap) else { return }
      context.saveGState()
      // Back to CoreGraphics' own pixels, then to pixels counted from the top.
      context.concatenate(context.ctm.inverted())
      context.concatenate(flip)
      append(outline)
      context.clip()
      context.concatenate(transform.affine)
      // An image stands upright where y grows upwards.
      context.translateBy(x: 0, y: CGFloat(bitmap.size.height))
      context.scaleBy(x: 1, y: -1)
      context.interpolationQuality = isSmooth ? .high : .none
      context.setAlpha(CGFloat(style.opacity))
      context.setBlendMode(style.blendMode.coreGraphicsMode)
      context.draw(
        image,
        in: CGRect(
          x: 0, y: 0, width: CGFloat(bitmap.size.width), height: CGFloat(bitmap.size.height)))
      context.restoreGState()
    }

    func finish() throws(DrawingError) { context.flush() }

    /// A view of the bitmap's memory, which the provider keeps alive.
    private func image(_ bitmap: Bitmap) -> CGImage? {
      let owner = Unmanaged.passRetained(BitmapOwner(bitmap))
      let provider = bitmap.withUnsafeBytes { bytes in
        bytes.baseAddress.flatMap { address in
          CGDataProvider(
            dataInfo: owner.toOpaque(), data: address, size: bytes.count,
            releaseData: { info, _, _ in
              if let info { Unmanaged<BitmapOwner>.fromOpaque(info).release() }
            })
        }
      }
      guard let provider else {
        owner.release()
        return nil
      }
      return CGImage(
        width: bitmap.size.width, height: bitmap.size.height, bitsPerComponent: 8,
        bitsPerPixel: 32, bytesPerRow: bitmap.layout.rowBytes, space: colorSpace,
        bitmapInfo: CGBitmapInfo(rawValue: Self.bitmapInfo), provider: provider, decode: nil,
        shouldInterpolate: true, intent: .defaultIntent)
    }

    private func paint(
      _ path: Canvas.Path?, _ color: Canvas.Color, _ mode: CGBlendMode
    ) {
      guard let color = CGColor(colorSpace: colorSpace, components: color.components) else {
        return
      }
      context.saveGState()
      context.setFillColor(color)
      context.setBlendMode(mode)
      if let path {
        append(path)
        context.fillPath()
      } else {
        context.fill(context.boundingBoxOfClipPath)
      }
      context.restoreGState()
    }

    /// Makes `path` the context's current path, in current points.
    private func append(_ path: Canvas.Path) {
      context.beginPath()
      for element in path.elements {
        switch element {
        case .move(let point): context.move(to: point.native)
        case .line(let point): context.addLine(to: point.native)
        case .curve(let point, let control1, let control2):
          context.addCurve(
            to: point.native, control1: control1.native, control2: control2.native)
        case .close: context.closePath()
        }
      }
    }
  }

  extension Canvas {
    /// Lends the `CGContext` that this canvas draws with, for text, gradients and everything else
    /// that CoreGraphics draws.
    ///
    /// Its user space is the canvas' points, with y growing downwards; its clip is the canvas'
    /// clip, and its colour space the canvas' ``colorSpace``. Changes of the context's state are undone
    /// afterwards. The context must not be kept.
    public mutating func withNativeContext<Result, Failure: Error>(
      _ body: (_ context: CGContext) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      context.save()
      defer { context.restore() }
      return try body(context.context)
    }
  }

  /// Keeps a bitmap's memory while CoreGraphics looks at it.
  private final class BitmapOwner {
    private let bitmap: Bitmap

    init(_ bitmap: Bitmap) { self.bitmap = bitmap }
  }

  extension Canvas.Transform {
    fileprivate var affine: CGAffineTransform {
      CGAffineTransform(
        a: CGFloat(a), b: CGFloat(b), c: CGFloat(c), d: CGFloat(d), tx: CGFloat(tx),
        ty: CGFloat(ty))
    }
  }

  extension Canvas.Point {
    fileprivate var native: CGPoint { CGPoint(x: CGFloat(x), y: CGFloat(y)) }
  }

  extension Canvas.Color {
    fileprivate var components: [CGFloat] {
      [red, green, blue, alpha].map { CGFloat(max(0, min(1, $0))) }
    }
  }

  extension Canvas.BlendMode {
    fileprivate var coreGraphicsMode: CGBlendMode {
      switch self {
      case .normal: .normal
      case .multiply: .multiply
      case .screen: .screen
      case .overlay: .overlay
      case .darken: .darken
      case .lighten: .lighten
      case .colorDodge: .colorDodge
      case .colorBurn: .colorBurn
      case .hardLight: .hardLight
      case .softLight: .softLight
      case .difference: .difference
      case .exclusion: .exclusion
      case .hue: .hue
      case .saturation: .saturation
      case .color: .color
      case .luminosity: .luminosity
      }
    }
  }
#endif
