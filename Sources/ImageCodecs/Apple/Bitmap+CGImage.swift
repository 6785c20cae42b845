#if canImport(ImageIO)
  public import CoreGraphics
  public import Pixels

  extension Bitmap {
    /// Copies a `CGImage` into memory of its own, its colours turned into sRGB, or into another space.
    ///
    /// A `CGImage` knows no orientation: turn what a `UIImage` says to be lying. Blocks its thread for
    /// the conversion.
    ///
    /// - Parameter image: In any colour space; with alpha it becomes ``PixelFormat/bgra32``, without
    ///   ``PixelFormat/bgrx32``.
    /// - Parameter colorSpace: The result's.
    /// - Throws: ``BitmapError``.
    public init(_ image: CGImage, colorSpace: ColorSpace = .sRGB) throws(BitmapError) {
      let opaque: [CGImageAlphaInfo] = [.none, .noneSkipFirst, .noneSkipLast]
      try self.init(
        image, hasAlpha: !opaque.contains(image.alphaInfo),
        fullSize: PixelSize(width: image.width, height: image.height), colorSpace: colorSpace)
    }

    /// - Parameter fullSize: The image's size before ImageIO scaled it. ImageIO does not say how it
    ///   rounds a thumbnail's sides. It scales the whole image to the whole thumbnail, so the edges
    ///   are the bitmap's, and the proportions those of the header.
    init(
      _ image: CGImage, hasAlpha: Bool, fullSize: PixelSize, colorSpace: ColorSpace
    ) throws(BitmapError) {
      let size = PixelSize(width: image.width, height: image.height)
      let format: PixelFormat = hasAlpha ? .bgra32 : .bgrx32
      let alpha: CGImageAlphaInfo = hasAlpha ? .premultipliedFirst : .noneSkipFirst
      guard let layout = PixelLayout(size: size, format: format),
        let space = colorSpace.cgColorSpace
      else { throw .invalidSize(size) }
      let edges = ImageEdges(filling: size, fullSize: fullSize)
      let bitmap = try Bitmap(
        unfilled: layout, edges: edges, colorSpace: colorSpace
      ) {
        pixels throws(BitmapError) in
        // What is not zero would shine through where the image is transparent; skipped alpha
        // bytes have to be 255.
        pixels.initializeMemory(as: UInt8.self, repeating: hasAlpha ? 0 : 255)
        let context = CGContext(
          data: pixels.baseAddress, width: size.width, height: size.height, bitsPerComponent: 8,
          bytesPerRow: layout.rowBytes, space: space,
          bitmapInfo: alpha.rawValue | CGBitmapInfo.byteOrder32Little.rawValue)
        guard let context else { throw .outOfMemory(byteCount: layout.byteCount) }
        context.draw(image, in: CGRect(x: 0, y: 0, width: size.width, height: size.height))
      }
      guard let bitmap else { throw .outOfMemory(byteCount: layout.byteCount) }
      self = bitmap
    }
  }
#endif
