#if canImport(ImageIO)
  import CoreGraphics
  import Foundation
  import ImageIO
  import Pixels

  extension PNGEncoder {
    func write(
      _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, _ colorSpace: ColorSpace
    ) throws(ImageEncodingError) -> Data {
      try EncodedImage(pixels: pixels, layout: layout, colorSpace: colorSpace).data(
        type: "public.png", options: [:])
    }

    /// ImageIO writes no palette, so it is given whole pixels.
    func write(_ image: PaletteImage, _ colorSpace: ColorSpace) throws(ImageEncodingError) -> Data {
      let bitmap = try image.bitmap(colorSpace)
      return try bitmap.withUnsafeBytes { bytes throws(ImageEncodingError) in
        try write(bytes, bitmap.layout, colorSpace)
      }
    }
  }

  extension JPEGEncoder {
    func write(
      _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, _ colorSpace: ColorSpace
    ) throws(ImageEncodingError) -> Data {
      let white = CGColor(red: 1, green: 1, blue: 1, alpha: 1)
      return try EncodedImage(pixels: pixels, layout: layout, colorSpace: colorSpace).data(
        type: "public.jpeg",
        options: [
          kCGImageDestinationLossyCompressionQuality: quality.isNaN ? 0.9 : min(max(quality, 0), 1),
          kCGImageDestinationBackgroundColor: white,
          kCGImagePropertyJFIFDictionary: [kCGImagePropertyJFIFIsProgressive: isProgressive],
        ])
    }
  }

  /// Pixels on their way into a file.
  private struct EncodedImage {
    let pixels: UnsafeRawBufferPointer
    let layout: PixelLayout
    let colorSpace: ColorSpace

    func data(type: String, options: [CFString: Any]) throws(ImageEncodingError) -> Data {
      guard let start = pixels.baseAddress, pixels.count >= layout.byteCount else {
        throw .failed("\(pixels.count) bytes are too few for an image of \(layout.size).")
      }
      let copy = Data(bytes: start, count: layout.byteCount)
      guard let provider = CGDataProvider(data: copy as CFData), let image = image(provider) else {
        throw .outOfMemory
      }
      let result = NSMutableData()
      guard
        let destination = CGImageDestinationCreateWithData(
          result as CFMutableData, type as CFString, 1, nil)
      else { throw .failed("ImageIO does not write \(type).") }
      CGImageDestinationAddImage(destination, image, options as CFDictionary)
      guard CGImageDestinationFinalize(destination) else {
        throw .failed("ImageIO could not write \(type).")
      }
      return result as Data
    }

    private func image(_ provider: CGDataProvider) -> CGImage? {
      let (bits, info): (Int, UInt32) =
        switch layout.format {
        case .bgra32:
          (
            8,
            CGImageAlphaInfo.premultipliedFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue
          )
        case .bgrx32:
          (8, CGImageAlphaInfo.noneSkipFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue)
        case .bgr16:
          (5, CGImageAlphaInfo.noneSkipFirst.rawValue | CGBitmapInfo.byteOrder16Little.rawValue)
        case .gray8:
          (8, CGImageAlphaInfo.none.rawValue)
        }
      let space =
        layout.format == .gray8
        ? CGColorSpaceCreateDeviceGray() : colorSpace.cgColorSpace
      guard let space else { return nil }
      return CGImage(
        width: layout.size.width, height: layout.size.height, bitsPerComponent: bits,
        bitsPerPixel: layout.format.bytesPerPixel * 8, bytesPerRow: layout.rowBytes, space: space,
        bitmapInfo: CGBitmapInfo(rawValue: info), provider: provider, decode: nil,
        shouldInterpolate: false, intent: .defaultIntent)
    }
  }
#endif
