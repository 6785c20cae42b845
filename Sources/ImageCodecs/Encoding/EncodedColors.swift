import Pixels

/// Which of an image's colours an encoder writes.
///
/// ```swift
/// let image = try await cache.image(for: photo, format: .row)
/// let scan = try image.data(encodedBy: JPEGEncoder(quality: 0.6, colors: .gray))
/// let icon = try image.data(encodedBy: PNGEncoder(colors: .palette(count: 64)))
/// ```
///
/// All but ``all`` take a second copy of the pixels.
public struct EncodedColors: Hashable, Sendable {
  /// A colour in sRGB, for what is transparent to lie on.
  public struct Ground: Hashable, Sendable {
    /// The share of red, green and blue, from 0 to 1; numbers beyond count as the nearer bound.
    public var red: Double, green: Double, blue: Double

    /// Creates a colour of components between 0 and 1.
    public init(red: Double, green: Double, blue: Double) {
      (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// All components 1.
    public static let white = Ground(red: 1, green: 1, blue: 1)
    /// All components 0.
    public static let black = Ground(red: 0, green: 0, blue: 0)
  }

  enum Kind: Hashable {
    case all, opaque, gray
    case palette(count: Int)
  }

  let kind: Kind
  let ground: Ground

  private init(_ kind: Kind, _ ground: Ground = .white) {
    (self.kind, self.ground) = (kind, ground)
  }

  /// The colours as they are, with alpha where the kind of file has it; else they lie on white.
  public static let all = EncodedColors(.all)

  /// Colours without alpha, on white.
  public static let opaque = opaque(on: .white)

  /// Colours without alpha.
  ///
  /// - Parameter ground: What shows through where the image is transparent.
  public static func opaque(on ground: Ground) -> EncodedColors { EncodedColors(.opaque, ground) }

  /// One gray value a pixel, on white.
  public static let gray = gray(on: .white)

  /// One gray value a pixel, as ``PixelFormat/gray8`` has it, without alpha. A WebP file has three equal ones.
  ///
  /// - Parameter ground: What shows through where the image is transparent.
  public static func gray(on ground: Ground) -> EncodedColors { EncodedColors(.gray, ground) }

  /// At most 256 colours.
  public static let palette = palette(count: 256)

  /// Few colours, each with its alpha: the image's own where it has no more, and else a choice by median cut, without
  /// dithering.
  ///
  /// On Linux a PNG file lists them. ImageIO writes no list, so on Apple platforms it has the same pixels without one.
  /// JPEG and WebP files have no list either, and JPEG no alpha.
  ///
  /// - Parameter count: The most colours, from 1 to 256; numbers beyond count as the nearer bound.
  public static func palette(count: Int) -> EncodedColors {
    EncodedColors(.palette(count: min(max(count, 1), 256)))
  }
}

extension EncodedColors {
  /// Lends the pixels to write.
  func withPixels<Result>(
    _ pixels: RawSpan, _ layout: PixelLayout, _ colorSpace: ColorSpace,
    _ body: (UnsafeRawBufferPointer, PixelLayout) throws(ImageEncodingError) -> Result
  ) throws(ImageEncodingError) -> Result {
    try pixels.withUnsafeBytes { bytes throws(ImageEncodingError) in
      guard let bitmap = try redrawing(bytes, layout, colorSpace) else {
        return try body(bytes, layout)
      }
      return try bitmap.withUnsafeBytes { bytes throws(ImageEncodingError) in
        try body(bytes, bitmap.layout)
      }
    }
  }

  /// An image of these colours; `nil` where the pixels are what is to be written.
  private func redrawing(
    _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, _ colorSpace: ColorSpace
  ) throws(ImageEncodingError) -> Bitmap? {
    switch kind {
    case .all: return nil
    case .opaque:
      guard layout.format.hasAlpha else { return nil }
      return try .converting(pixels, layout, to: .bgrx32, colorSpace, ground: pixel(in: colorSpace))
    case .gray:
      guard layout.format != .gray8 else { return nil }
      return try .converting(pixels, layout, to: .gray8, colorSpace, ground: pixel(in: colorSpace))
    case .palette(let count):
      return try PaletteImage(pixels, layout, colorCount: count).bitmap(colorSpace)
    }
  }

  /// The ground as one pixel.
  private func pixel(in colorSpace: ColorSpace) -> SIMD4<UInt8> {
    func clamped(_ component: Double) -> Double {
      component.isNaN ? 0 : min(max(component, 0), 1)
    }
    let color = ColorSpace.sRGB.converted(
      SIMD3(clamped(ground.red), clamped(ground.green), clamped(ground.blue)), to: colorSpace)
    func byte(_ component: Double) -> UInt8 { UInt8((clamped(component) * 255).rounded()) }
    return SIMD4(byte(color.z), byte(color.y), byte(color.x), 255)
  }
}

extension Bitmap {
  /// A bitmap of the same size; all failures are an ``ImageEncodingError``.
  static func encoding(
    _ layout: PixelLayout, _ format: PixelFormat, _ colorSpace: ColorSpace,
    _ fill: (UnsafeMutableRawBufferPointer, PixelLayout) throws(ImageEncodingError) -> Void
  ) throws(ImageEncodingError) -> Bitmap {
    guard let layout = PixelLayout(size: layout.size, format: format),
      let bitmap = try Bitmap(
        unfilled: layout, colorSpace: colorSpace,
        filling: { bytes throws(ImageEncodingError) in try fill(bytes, layout) })
    else { throw .outOfMemory }
    return bitmap
  }

  fileprivate static func converting(
    _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, to format: PixelFormat,
    _ colorSpace: ColorSpace, ground: SIMD4<UInt8>
  ) throws(ImageEncodingError) -> Bitmap {
    try .encoding(layout, format, colorSpace) { target, result throws(ImageEncodingError) in
      guard let start = target.baseAddress else { throw .outOfMemory }
      try layout.forEachRow(of: pixels) { y, row in
        PixelRows.lay(ground, under: row, count: layout.size.width)
        PixelRows.convert(row, to: format, start + y * result.rowBytes, count: layout.size.width)
      }
    }
  }
}

extension PixelLayout {
  /// Lends each row as blue, green, red, alpha, which may be written over.
  func forEachRow(
    of pixels: UnsafeRawBufferPointer, _ body: (Int, UnsafeMutableRawPointer) -> Void
  ) throws(ImageEncodingError) {
    guard let start = pixels.baseAddress, pixels.count >= byteCount else {
      throw .failed("\(pixels.count) bytes are too few for an image of \(size).")
    }
    let row = UnsafeMutableRawBufferPointer.allocate(byteCount: size.width * 4, alignment: 4)
    defer { row.deallocate() }
    guard let target = row.baseAddress else { throw .outOfMemory }
    for y in 0..<size.height {
      PixelRows.expand(start + y * rowBytes, format: format, to: target, count: size.width)
      body(y, target)
    }
  }
}
