#if canImport(CoreGraphics)
  import CoreGraphics
  import FastImageCache
  import Foundation
  import ImageViewing

  /// The image of an entity's hash that a place shows, drawn once for each hash and format.
  @MainActor struct PlaceholderImage {
    private var hashed = HashedImage<(image: CGImage, scale: CGFloat)>()

    /// - Returns: The image, and its pixels in a point: with them it has the size of the entity's image. `nil` without
    ///   a hash.
    mutating func image(for request: ImagePlace.Request?) -> (image: CGImage, scale: CGFloat)? {
      hashed.native(for: request) { drawn in
        let points = Double(drawn.size.width) / drawn.scale
        return CGImage.copying(drawn.bitmap)
          .map { ($0, CGFloat(Double(drawn.bitmap.size.width) / points)) }
      }
    }
  }

  extension CGImage {
    /// An image of a bitmap's pixels, of four bytes each, which is scaled smoothly.
    fileprivate static func copying(_ bitmap: Bitmap) -> CGImage? {
      let hasAlpha = bitmap.layout.format == .bgra32
      guard hasAlpha || bitmap.layout.format == .bgrx32 else { return nil }
      let data = bitmap.withUnsafeBytes { Data($0) }
      guard let provider = CGDataProvider(data: data as CFData) else { return nil }
      let alpha: CGImageAlphaInfo = hasAlpha ? .premultipliedFirst : .noneSkipFirst
      return CGImage(
        width: bitmap.size.width, height: bitmap.size.height, bitsPerComponent: 8,
        bitsPerPixel: 32, bytesPerRow: bitmap.layout.rowBytes,
        space: CGColorSpace(name: CGColorSpace.sRGB) ?? CGColorSpaceCreateDeviceRGB(),
        bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue).union(.byteOrder32Little),
        provider: provider, decode: nil, shouldInterpolate: true, intent: .defaultIntent)
    }
  }
#endif
