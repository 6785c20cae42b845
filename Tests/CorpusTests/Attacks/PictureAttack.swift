import Foundation
import ImageCodecs
import Pixels

/// Decodes as a cache would, within tight limits.
enum PictureAttack {
  static let limits = {
    var limits = DecodingLimits()
    limits.pixelCount = 1 << 20
    limits.workingByteCount = 16 << 20
    return limits
  }()

  static func run(on bytes: [UInt8]) throws {
    let data = Data(bytes)
    // The wanted size is a function of the bytes, so that an input is the picture alone.
    let sides = [nil, 3, 40]
    let minimumSize = sides[bytes.count % sides.count].map { PixelSize(width: $0, height: $0 - 1) }
    let header: ImageHeader
    let bitmap: Bitmap
    do throws(ImageDecodingError) {
      let decoder = try ImageDecoders.standard.decoder(for: data)
      header = try decoder.header(of: data)
      bitmap = try decoder.decode(data, DecodeRequest(minimumSize: minimumSize, limits: limits))
    } catch {
      return
    }
    guard let minimumSize else {
      try Attack.require(bitmap.size == header.size, "\(bitmap.size) is not \(header.size)")
      return
    }
    let least = PixelSize(
      width: min(minimumSize.width, header.size.width),
      height: min(minimumSize.height, header.size.height))
    try Attack.require(
      bitmap.size.width >= least.width && bitmap.size.height >= least.height,
      "\(bitmap.size) is smaller than \(least)")
    try Attack.require(
      bitmap.size.width <= header.size.width && bitmap.size.height <= header.size.height,
      "\(bitmap.size) is larger than \(header.size)")
  }
}
