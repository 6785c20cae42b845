package import Foundation
package import ImageCodecs
package import Pixels

/// Reads animations that a test writes in a few bytes: `draw` makes a frame of the animation's number and its index.
package struct FramesDecoder: AnimationDecoder {
  /// What a file has beside its frames.
  package enum Oddity: UInt8 {
    case nothing, isCut
    /// The still is none of the frames: `draw` makes it with the index 99.
    case hasOtherStill
  }

  private let size: PixelSize
  private let draw: @Sendable (_ number: Int, _ index: Int) throws -> Bitmap

  /// Images that were decoded, frames and stills.
  package let reads = Counter()

  /// Frames behind the first wait here.
  package var gate: Gate?

  /// This frame cannot be read.
  package var damaged: Int?

  /// The time of each frame in place of the file's.
  package var duration: (@Sendable (Int) -> Duration)?

  package init(
    size: PixelSize, gate: Gate? = nil,
    draw: @escaping @Sendable (_ number: Int, _ index: Int) throws -> Bitmap
  ) {
    (self.size, self.gate, self.draw) = (size, gate, draw)
  }

  /// An encoded animation.
  ///
  /// - Parameters:
  ///   - number: Up to 65 535.
  ///   - loops: 0 for ever, up to 255.
  ///   - milliseconds: Of each frame, up to 65 535.
  package static func bytes(
    _ number: Int, loops: Int = 0, milliseconds: [Int], _ oddity: Oddity = .nothing
  ) -> Data {
    let numbers = ([number] + milliseconds).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    return Data("FRAMES".utf8) + [UInt8(loops), oddity.rawValue] + numbers
  }

  package func recognizes(_ firstBytes: Data) -> Bool { firstBytes.starts(with: "FRAMES".utf8) }

  package func header(of data: Data) -> ImageHeader { ImageHeader(size: size) }

  package func decode(
    _ data: Data, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> Bitmap {
    try frame(data[7] == Oddity.hasOtherStill.rawValue ? 99 : 0, of: data)
  }

  package func animation(
    of data: Data, within limits: DecodingLimits
  ) throws(ImageDecodingError) -> AnimationHeader? {
    let count = Self.frameCount(data)
    guard count <= limits.frameCount else { throw .tooLarge("\(count) frames") }
    if count < 2 { return nil }
    return AnimationHeader(
      frameCount: count, loopCount: data[6] == 0 ? nil : Int(data[6]),
      frameDurations: (0..<count).map { index in
        duration?(index) ?? .milliseconds(Self.number(data, at: 10 + index * 2))
      },
      isCut: data[7] == Oddity.isCut.rawValue, workingByteCount: 4096)
  }

  package func frames(of data: Data, _ request: DecodeRequest) -> sending any FrameReader {
    Reader(decoder: self, data: data)
  }

  private static func number(_ data: Data, at offset: Int) -> Int {
    Int(data[offset]) << 8 | Int(data[offset + 1])
  }

  private static func frameCount(_ data: Data) -> Int { (data.count - 10) / 2 }

  private func frame(_ index: Int, of data: Data) throws(ImageDecodingError) -> Bitmap {
    reads.increment()
    do { return try draw(Self.number(data, at: 8), index) } catch { throw .outOfMemory }
  }

  private final class Reader: FrameReader {
    let decoder: FramesDecoder
    let data: Data
    var index = 0

    init(decoder: FramesDecoder, data: Data) { (self.decoder, self.data) = (decoder, data) }

    func next() throws(ImageDecodingError) -> Bitmap? {
      guard index < FramesDecoder.frameCount(data) else { return nil }
      if index > 0 { decoder.gate?.waitBlocking() }
      if index == decoder.damaged { throw .damaged("frame \(index)") }
      defer { index += 1 }
      return try decoder.frame(index, of: data)
    }
  }
}
