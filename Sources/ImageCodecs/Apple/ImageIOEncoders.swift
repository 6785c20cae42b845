#if canImport(ImageIO)
  import CoreGraphics
  package import Foundation
  import ImageIO
  package import Pixels

  /// Writes PNG files, lossless and marked as sRGB.
  package enum PNGEncoder {
    package static func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> Data {
      try bitmap.withUnsafeBytes { bytes throws(ImageEncodingError) in
        try encode(bytes, layout: bitmap.layout, conversion: bitmap.colorConversion)
      }
    }

    /// Encodes the caller's pixels.
    ///
    /// - Parameters:
    ///   - pixels: At least `layout.byteCount` bytes, the top row first.
    ///   - conversion: The conversion to sRGB, for pixels in another space; no decoder of this
    ///     platform makes one.
    package static func encode(
      _ pixels: UnsafeRawBufferPointer, layout: PixelLayout,
      conversion: (any ColorConversion)? = nil
    ) throws(ImageEncodingError) -> Data {
      try EncodedImage(pixels: pixels, layout: layout, conversion: conversion)
        .data(type: "public.png", options: [:])
    }
  }

  /// Writes JPEG files in sRGB; transparent pixels become white.
  package struct JPEGEncoder {
    /// From 0, the smallest file, to 1, the best picture.
    package let quality: Double

    package init(quality: Double = 0.9) { self.quality = quality }

    package func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> Data {
      try bitmap.withUnsafeBytes { bytes throws(ImageEncodingError) in
        try encode(bytes, layout: bitmap.layout, conversion: bitmap.colorConversion)
      }
    }

    /// Encodes the caller's pixels.
    ///
    /// - Parameters:
    ///   - pixels: At least `layout.byteCount` bytes, the top row first.
    ///   - conversion: The conversion to sRGB, for pixels in another space; no decoder of this
    ///     platform makes one.
    package func encode(
      _ pixels: UnsafeRawBufferPointer, layout: PixelLayout,
      conversion: (any ColorConversion)? = nil
    ) throws(ImageEncodingError) -> Data {
      let white = CGColor(red: 1, green: 1, blue: 1, alpha: 1)
      return try EncodedImage(pixels: pixels, layout: layout, conversion: conversion)
        .data(
          type: "public.jpeg",
          options: [
            kCGImageDestinationLossyCompressionQuality: quality,
            kCGImageDestinationBackgroundColor: white,
          ])
    }
  }

  /// Pixels on their way into a file.
  private struct EncodedImage {
    let pixels: UnsafeRawBufferPointer
    let layout: PixelLayout
    let conversion: (any ColorConversion)?

    func data(type: String, options: [CFString: Any]) throws(ImageEncodingError) -> Data {
      guard conversion == nil else { throw .failed("The pixels are not sRGB yet.") }
      guard let start = pixels.baseAddress, pixels.count >= layout.byteCount else {
        throw .failed("\(pixels.count) bytes are too few for a picture of \(layout.size).")
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
        ? CGColorSpaceCreateDeviceGray() : CGColorSpace(name: CGColorSpace.sRGB)
      guard let space else { return nil }
      return CGImage(
        width: layout.size.width, height: layout.size.height, bitsPerComponent: bits,
        bitsPerPixel: layout.format.bytesPerPixel * 8, bytesPerRow: layout.rowBytes, space: space,
        bitmapInfo: CGBitmapInfo(rawValue: info), provider: provider, decode: nil,
        shouldInterpolate: false, intent: .defaultIntent)
    }
  }
#endif
