#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// This platform's part of ``ImageDecoders/standard``: all of it.
  let systemDecoders: [any ImageDecoder] =
    [JPEGDecoder(), PNGDecoder(), WebPDecoder()] + makeOptionalDecoders()

  extension fic_status {
    /// Throws the error of a C function's status, with the library's own words where it has any.
    func check(_ type: EncodedImageType, _ message: UnsafePointer<CChar>? = nil)
      throws(ImageDecodingError)
    {
      func text(_ otherwise: String) -> String {
        let words = message.map { String(cString: $0) } ?? ""
        return "\(type.rawValue): \(words.isEmpty ? otherwise : words)"
      }
      switch self {
      case .ok: return
      case .truncated: throw .truncated
      case .damaged: throw .damaged(text("the bytes contradict the format"))
      case .unsupported: throw .unsupported(text("not a kind that is decoded here"))
      case .tooLarge: throw .tooLarge(text("too large"))
      case .outOfMemory: throw .outOfMemory
      case .cancelled: throw .cancelled
      }
    }
  }

  extension UnsafeRawBufferPointer {
    /// The address of the bytes for C; `nil` for no bytes at all.
    var start: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
  }

  /// An upper bound for the rows that libraries keep: a part for each pixel of the longer side, and
  /// a fixed part for tables and Huffman codes. It is above every measurement, at every scale and
  /// sampling.
  func rowBufferByteCount(_ size: PixelSize) -> Int {
    max(size.width, size.height).multipliedClamped(by: 256).addingClamped(256 << 10)
  }

  extension Int {
    func dividedRoundingUp(by divisor: Int) -> Int { (self + divisor - 1) / divisor }
  }

  extension PixelLayout {
    /// Bytes of a bitmap, or the largest number there is where they cannot be counted.
    static func byteCount(size: PixelSize, format: PixelFormat) -> Int {
      PixelLayout(size: size, format: format)?.byteCount ?? .max
    }
  }

  extension Bitmap {
    /// Decodes into a bitmap of the given upright size; all failures are an ``ImageDecodingError``.
    static func decoding(
      size: PixelSize, format: PixelFormat, edges: ImageEdges? = nil,
      conversion: (any ColorConversion)? = nil, colorSpace: ColorSpace = .sRGB,
      _ fill: (UnsafeMutableRawBufferPointer, PixelLayout) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) -> Bitmap {
      guard let layout = PixelLayout(size: size, format: format) else {
        throw .tooLarge("\(size) pixels cannot be counted.")
      }
      let bitmap = try Bitmap(
        unfilled: layout, colorConversion: conversion, edges: edges, colorSpace: colorSpace
      ) {
        pixels throws(ImageDecodingError) in try fill(pixels, layout)
      }
      guard let bitmap else { throw .outOfMemory }
      return bitmap
    }
  }
#endif
