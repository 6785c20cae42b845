#if canImport(CoreGraphics)
  import CoreGraphics
  import FastImageCache
  import Foundation
  import ImageViewing

  /// The image of an entity's hash that a place shows, drawn once for each hash and format.
  @MainActor struct PlaceholderImage {
    private var key: Key?
    private var image: CGImage?
    private var scale: CGFloat = 1

    private struct Key: Equatable {
      let hash: PlaceholderHash
      let format: ImageFormat
    }

    /// - Returns: The image, and its pixels in a point: with them it has the size of the entity's image. `nil` without a
    ///   hash.
    mutating func image(for request: PicturePlace.Request?) -> (image: CGImage, scale: CGFloat)? {
      guard let request, let hash = request.entity.placeholderHash else { return nil }
      let new = Key(hash: hash, format: request.format)
      if new != key {
        (key, image) = (new, nil)
        if let drawn = request.makePlaceholder() {
          image = CGImage.copying(drawn.bitmap)
          let points = Double(drawn.size.width) / request.format.scale
          scale = CGFloat(Double(drawn.bitmap.size.width) / points)
        }
      }
      return image.map { ($0, scale) }
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
