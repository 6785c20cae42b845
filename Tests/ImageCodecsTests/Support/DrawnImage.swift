import Foundation
import Pixels

@testable import ImageCodecs

/// A small image that tests draw: red, green, blue, alpha, not multiplied, top row first.
struct DrawnImage {
  let size: PixelSize
  private(set) var rgba: [UInt8]

  init(
    _ width: Int, _ height: Int, _ color: (_ x: Int, _ y: Int) -> (Int, Int, Int, Int)
  ) {
    size = PixelSize(width: width, height: height)
    rgba = []
    rgba.reserveCapacity(width * height * 4)
    for y in 0..<height {
      for x in 0..<width {
        let (red, green, blue, alpha) = color(x, y)
        rgba.append(UInt8(clamping: red))
        rgba.append(UInt8(clamping: green))
        rgba.append(UInt8(clamping: blue))
        rgba.append(UInt8(clamping: alpha))
      }
    }
  }

  /// Colours that change slowly, so that lossy coding keeps them, and differently along each side,
  /// so that no turn or mirror image looks the same.
  static func slopes(_ width: Int, _ height: Int) -> DrawnImage {
    DrawnImage(width, height) { x, y in
      let right = x * 200 / max(width - 1, 1)
      let down = y * 200 / max(height - 1, 1)
      return (right + 20, down + 30, (right + down) / 2 + 10, 255)
    }
  }

  /// Every pixel another colour and another alpha.
  static func confetti(_ width: Int, _ height: Int) -> DrawnImage {
    DrawnImage(width, height) { x, y in
      let n = y * width + x
      return (n * 37 % 256, n * 101 % 256, n * 13 % 256, n * 59 % 256)
    }
  }

  subscript(x: Int, y: Int) -> (Int, Int, Int, Int) {
    let pixel = rgba[(y * size.width + x) * 4..<(y * size.width + x) * 4 + 4].map(Int.init)
    return (pixel[0], pixel[1], pixel[2], pixel[3])
  }

  /// Squares of one colour for each pixel.
  func enlarged(by factor: Int) -> DrawnImage {
    DrawnImage(size.width * factor, size.height * factor) { self[$0 / factor, $1 / factor] }
  }

  /// The image upright, for one stored with an orientation of EXIF 2.32.
  func turned(_ orientation: Int) -> DrawnImage {
    let upright = orientation < 5 ? size : size.transposed
    return DrawnImage(upright.width, upright.height) { x, y in
      let source = Self.stored(orientation, x: x, y: y, in: size)
      return self[source.x, source.y]
    }
  }

  /// The stored pixel that belongs to an upright one, by the standard's wording: which side of the
  /// scene the stored row 0 and column 0 are.
  static func stored(_ orientation: Int, x: Int, y: Int, in size: PixelSize) -> (x: Int, y: Int) {
    let (right, bottom) = (size.width - 1, size.height - 1)
    switch orientation {
    case 1: return (x, y)  // top, left
    case 2: return (right - x, y)  // top, right
    case 3: return (right - x, bottom - y)  // bottom, right
    case 4: return (x, bottom - y)  // bottom, left
    case 5: return (y, x)  // left, top
    case 6: return (y, bottom - x)  // right, top
    case 7: return (right - y, bottom - x)  // right, bottom
    default: return (right - y, x)  // left, bottom
    }
  }

  var rgb: [UInt8] {
    rgba.indices.filter { $0 % 4 != 3 }.map { rgba[$0] }
  }

  var red: [UInt8] {
    stride(from: 0, to: rgba.count, by: 4).map { rgba[$0] }
  }

  /// What a decoder has to make of it: blue, green, red multiplied by alpha, alpha.
  var premultipliedBGRA: [UInt8] {
    stride(from: 0, to: rgba.count, by: 4).flatMap { (offset: Int) -> [UInt8] in
      let alpha = Double(rgba[offset + 3])
      let colors = [2, 1, 0].map { (channel: Int) -> UInt8 in
        UInt8((Double(rgba[offset + channel]) * alpha / 255).rounded())
      }
      return colors + [rgba[offset + 3]]
    }
  }

  var opaqueBGRX: [UInt8] {
    stride(from: 0, to: rgba.count, by: 4).flatMap { (offset: Int) -> [UInt8] in
      [rgba[offset + 2], rgba[offset + 1], rgba[offset], 255]
    }
  }
}

extension Bitmap {
  /// The pixels without the padding of their rows.
  var packedBytes: [UInt8] {
    let used = size.width * bytesPerPixel
    return withUnsafeBytes { bytes in
      (0..<size.height).flatMap { (y: Int) -> [UInt8] in
        Array(bytes[y * layout.rowBytes..<y * layout.rowBytes + used])
      }
    }
  }

  func pixel(_ x: Int, _ y: Int) -> [UInt8] {
    let offset = (y * size.width + x) * bytesPerPixel
    return Array(packedBytes[offset..<offset + bytesPerPixel])
  }

  private var bytesPerPixel: Int { layout.format.bytesPerPixel }
}

/// The largest difference between bytes of equal place, or 256 where the counts differ.
func largestDifference(_ first: [UInt8], _ second: [UInt8]) -> Int {
  guard first.count == second.count else { return 256 }
  return zip(first, second).map { abs(Int($0) - Int($1)) }.max() ?? 0
}

/// Decodes as the cache does: by the first decoder that recognises the bytes.
func decode(
  _ data: Data, atLeast minimumSize: PixelSize? = nil, limits: DecodingLimits = DecodingLimits(),
  isCancelled: @escaping @Sendable () -> Bool = { false }
) throws(ImageDecodingError) -> Bitmap {
  let request = DecodeRequest(
    minimumSize: minimumSize, limits: limits, isCancelled: isCancelled)
  return try ImageDecoders.standard.decoder(for: data).decode(data, request)
}

func header(of data: Data) throws(ImageDecodingError) -> ImageHeader {
  try ImageDecoders.standard.decoder(for: data).header(of: data)
}
