import Foundation
import ImageCodecs
import Pixels

/// Decodes as a cache would, within tight limits.
enum ImageAttack {
  static let limits = {
    var limits = DecodingLimits()
    limits.pixelCount = 1 << 20
    limits.workingByteCount = 16 << 20
    return limits
  }()

  static func run(on bytes: [UInt8]) throws {
    let data = Data(bytes)
    // The wanted size is a function of the bytes, so that an input is the image alone.
    let sides = [nil, 3, 40]
    let minimumSize = sides[bytes.count % sides.count].map { PixelSize(width: $0, height: $0 - 1) }
    let header: ImageHeader
    let bitmap: Bitmap
    var previewed: (settled: Bitmap?, byteCount: Int)?
    do throws(ImageDecodingError) {
      let decoder = try ImageDecoders.standard.decoder(for: data)
      previewed = preview(data, decoder as? any ProgressiveImageDecoder, minimumSize)
      header = try decoder.header(of: data)
      bitmap = try decoder.decode(
        data, DecodeRequest(minimumSize: minimumSize, limits: limits))
    } catch {
      return
    }
    try Attack.require(
      previewed?.byteCount ?? 0 <= bytes.count, "a stage ends behind the file")
    if let settled = previewed?.settled {
      try Attack.require(pixels(settled) == pixels(bitmap), "a settled preview has changed")
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

  /// Watches the bytes in two pieces, and decodes the newest stage of each kind.
  ///
  /// - Returns: The preview that the rest of the file cannot change, and the end of the last stage.
  private static func preview(
    _ data: Data, _ decoder: (any ProgressiveImageDecoder)?, _ minimumSize: PixelSize?
  ) -> (settled: Bitmap?, byteCount: Int)? {
    guard let decoder else { return nil }
    var scanner = decoder.makePreviewScanner(of: data.count)
    var stages: [PreviewStage.Kind: PreviewStage] = [:]
    for half in [data.prefix(data.count / 2), data.dropFirst(data.count / 2)] {
      for stage in scanner.receive(half) { stages[stage.kind] = stage }
    }
    var settled: Bitmap?
    let request = DecodeRequest(minimumSize: minimumSize, limits: limits)
    for stage in stages.values {
      let bytes = Data(data.prefix(stage.byteCount))
      guard let fullSize = try? decoder.header(of: bytes).size,
        let preview = try? decoder.decodePreview(bytes, at: stage, request)
      else { continue }
      if request.isSettled(preview.bitmap, at: stage, of: fullSize) { settled = preview.bitmap }
    }
    return stages.values.map(\.byteCount).max().map { (settled, $0) }
  }

  /// The pixels without the padding of their rows.
  private static func pixels(_ bitmap: Bitmap) -> [UInt8] {
    let used = bitmap.size.width * bitmap.layout.format.bytesPerPixel
    return bitmap.withUnsafeBytes { bytes in
      (0..<bitmap.size.height).flatMap { bytes[($0 * bitmap.layout.rowBytes)...].prefix(used) }
    }
  }
}
