public import Foundation
public import Pixels

/// Turns pixels into one kind of encoded image, the opposite of ``ImageDecoder``.
///
/// ```swift
/// /// The pixels as they lie in memory, behind a line of text.
/// struct RawEncoder: ImageEncoder {
///   func encode(_ pixels: RawSpan, layout: PixelLayout) throws(ImageEncodingError) -> Data {
///     var data = Data("\(layout.size) \(layout.format)\n".utf8)
///     pixels.withUnsafeBytes { data.append(contentsOf: $0) }
///     return data
///   }
/// }
///
/// let image = try await cache.image(for: photo, format: .row)
/// let data = try image.data(encodedBy: RawEncoder())
/// ```
public protocol ImageEncoder: Sendable {
  /// Encodes one image, and blocks its thread meanwhile.
  ///
  /// - Parameters:
  ///   - pixels: `layout.byteCount` bytes, the top row first. Colours are sRGB, and multiplied by
  ///     alpha where `layout.format` has alpha.
  ///   - layout: How the pixels lie in them; any of the four pixel formats.
  /// - Throws: ``ImageEncodingError``; ``ImageEncodingError/failed(_:)`` with a sentence for what the
  ///   kind of file cannot hold.
  func encode(_ pixels: RawSpan, layout: PixelLayout) throws(ImageEncodingError) -> Data

  /// Encodes one image of any colour space.
  ///
  /// An encoder that has no such method of its own is given the colours of sRGB, in a copy.
  ///
  /// - Parameters:
  ///   - pixels: As with ``encode(_:layout:)``, with colours of the space.
  ///   - layout: How the pixels lie in them.
  ///   - colorSpace: Its profile belongs into the file where the format counts as sRGB without one.
  /// - Throws: ``ImageEncodingError``.
  func encode(
    _ pixels: RawSpan, layout: PixelLayout, colorSpace: ColorSpace
  ) throws(ImageEncodingError) -> Data
}

/// Writes JPEG files, those in Display P3 with its profile; what is transparent becomes white, gray stays gray.
public struct JPEGEncoder: ImageEncoder {
  /// From 0, the smallest file, to 1, the best image; numbers beyond count as the nearer bound,
  /// and NaN as 0.9.
  public var quality: Double

  /// Whether the file has several scans, so that its first part shows the whole image, coarser. Else it
  /// is baseline: its first part shows the top of the image.
  public var isProgressive: Bool

  /// The colours that are written.
  public var colors: EncodedColors

  /// Creates an encoder.
  public init(quality: Double = 0.9, isProgressive: Bool = false, colors: EncodedColors = .all) {
    (self.quality, self.isProgressive, self.colors) = (quality, isProgressive, colors)
  }

  /// - Throws: ``ImageEncodingError``; sides above 65 500 pixels do not fit into the format.
  public func encode(
    _ pixels: RawSpan, layout: PixelLayout
  ) throws(ImageEncodingError) -> Data {
    try encode(pixels, layout: layout, colorSpace: .sRGB)
  }

  /// - Throws: As without a colour space.
  public func encode(
    _ pixels: RawSpan, layout: PixelLayout, colorSpace: ColorSpace
  ) throws(ImageEncodingError) -> Data {
    try colors.withPixels(pixels, layout, colorSpace) {
      bytes, layout throws(ImageEncodingError) in try write(bytes, layout, colorSpace)
    }
  }
}

/// Writes PNG files, lossless and marked as sRGB or with the profile of Display P3; gray stays gray.
///
/// On Linux libpng refuses a side above 1 000 000 pixels.
public struct PNGEncoder: ImageEncoder {
  /// The colours that are written.
  public var colors: EncodedColors

  /// Creates an encoder.
  public init(colors: EncodedColors = .all) { self.colors = colors }

  /// - Throws: ``ImageEncodingError``.
  public func encode(
    _ pixels: RawSpan, layout: PixelLayout
  ) throws(ImageEncodingError) -> Data {
    try encode(pixels, layout: layout, colorSpace: .sRGB)
  }

  /// - Throws: ``ImageEncodingError``.
  public func encode(
    _ pixels: RawSpan, layout: PixelLayout, colorSpace: ColorSpace
  ) throws(ImageEncodingError) -> Data {
    if case .palette(let count) = colors.kind {
      let image = try pixels.withUnsafeBytes { bytes throws(ImageEncodingError) in
        try PaletteImage(bytes, layout, colorCount: count)
      }
      return try write(image, colorSpace)
    }
    return try colors.withPixels(pixels, layout, colorSpace) {
      bytes, layout throws(ImageEncodingError) in try write(bytes, layout, colorSpace)
    }
  }
}

extension ImageEncoder where Self == JPEGEncoder {
  /// JPEG.
  ///
  /// - Parameter quality: From 0, the smallest file, to 1, the best image.
  public static func jpeg(quality: Double = 0.9) -> JPEGEncoder { JPEGEncoder(quality: quality) }
}

extension ImageEncoder where Self == PNGEncoder {
  /// PNG.
  public static var png: PNGEncoder { PNGEncoder() }
}
