#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// What ``ImageDecoders/standard`` holds here.
  let systemDecoders: [any ImageDecoder] = [JPEGDecoder(), PNGDecoder(), WebPDecoder()]

  extension fic_status {
    /// Turns a C function's answer into an error, with the library's own words where it has any.
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
      }
    }
  }

  extension UnsafeRawBufferPointer {
    /// The same memory as C reads it; `nil` for no bytes at all.
    var start: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
  }

  /// What libraries keep for a few rows: this for each pixel of the longer side, and a fixed part
  /// for tables and Huffman codes. Above what was measured at every scale and sampling.
  func rowBufferByteCount(_ size: PixelSize) -> Int {
    let (bytes, overflow) = max(size.width, size.height).multipliedReportingOverflow(by: 256)
    return overflow ? .max : bytes.addingClamped(256 << 10)
  }

  extension Int {
    /// The sum, or the largest number there is: for sizes that a limit will refuse anyway.
    func addingClamped(_ other: Int) -> Int {
      let (sum, overflow) = addingReportingOverflow(other)
      return overflow ? .max : sum
    }

    func dividedRoundingUp(by divisor: Int) -> Int { (self + divisor - 1) / divisor }
  }

  extension PixelLayout {
    /// Bytes of a bitmap, or the largest number there is where they cannot be counted.
    static func byteCount(size: PixelSize, format: PixelFormat) -> Int {
      PixelLayout(size: size, format: format)?.byteCount ?? .max
    }
  }

  extension Bitmap {
    /// A bitmap of the given upright size, with both ways to fail put into this floor's words.
    static func decoding(
      size: PixelSize, format: PixelFormat, edges: PictureEdges,
      conversion: (any ColorConversion)?,
      _ fill: (UnsafeMutableRawBufferPointer, PixelLayout) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) -> Bitmap {
      guard let layout = PixelLayout(size: size, format: format) else {
        throw .tooLarge("\(size) pixels cannot be counted.")
      }
      let bitmap = try Bitmap(unfilled: layout, colorConversion: conversion, edges: edges) {
        pixels throws(ImageDecodingError) in try fill(pixels, layout)
      }
      guard let bitmap else { throw .outOfMemory }
      return bitmap
    }
  }
#endif
