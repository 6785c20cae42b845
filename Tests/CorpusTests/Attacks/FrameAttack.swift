import Foundation
import ImageCodecs
import Pixels

/// Reads the frames of an animation as a cache would, within tight limits.
enum FrameAttack {
  private static let limits = {
    var limits = ImageAttack.limits
    limits.frameCount = 200
    limits.animationPixelCount = 1 << 18
    return limits
  }()

  static func run(on bytes: [UInt8]) throws {
    let data = Data(bytes)
    let header: AnimationHeader
    let size: PixelSize
    var frames: [Bitmap] = []
    do throws(ImageDecodingError) {
      guard
        let decoder = try ImageDecoders.standard.decoder(for: data) as? any AnimationDecoder,
        let animation = try decoder.animation(of: data, within: limits)
      else { return }
      header = animation
      size = try decoder.header(of: data).size
      let reader = try decoder.frames(of: data, DecodeRequest(limits: limits))
      while let frame = try reader.next() { frames.append(frame) }
    } catch {
      return
    }
    try Attack.require(
      header.frameCount == frames.count && header.frameDurations.count == frames.count,
      "\(frames.count) frames of \(header.frameCount)")
    try Attack.require(
      header.frameDurations.allSatisfy { $0 >= .milliseconds(11) && $0 <= .seconds(86_400) },
      "durations \(header.frameDurations)")
    try Attack.require(
      header.workingByteCount <= limits.workingByteCount, "\(header.workingByteCount) bytes")
    for frame in frames {
      try Attack.require(frame.size == size, "\(frame.size) is not \(size)")
      try Attack.require(hasRightAlpha(frame), "a colour is not multiplied by alpha")
    }
  }

  /// Whether no colour is larger than its alpha, which is 255 in a format without it.
  private static func hasRightAlpha(_ frame: Bitmap) -> Bool {
    frame.withUnsafeBytes { bytes in
      (0..<frame.size.height).allSatisfy { y in
        let row = bytes[(y * frame.layout.rowBytes)...].prefix(frame.size.width * 4)
        return stride(from: row.startIndex, to: row.endIndex, by: 4).allSatisfy { pixel in
          let alpha = row[pixel + 3]
          return row[pixel..<pixel + 3].allSatisfy { $0 <= alpha }
            && (alpha == 255 || frame.layout.format == .bgra32)
        }
      }
    }
  }
}
