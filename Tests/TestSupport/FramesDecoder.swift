package import Foundation
package import ImageCodecs
package import Pixels

/// Reads animations that a test writes in a few bytes: `draw` makes a frame of the animation's number and its index.
package struct FramesDecoder: AnimationDecoder {
  private let size: PixelSize
  private let draw: @Sendable (_ number: Int, _ index: Int) throws -> Bitmap

  /// Frames behind the first wait here.
  package let gate: Gate?

  package init(
    size: PixelSize, gate: Gate? = nil,
    draw: @escaping @Sendable (_ number: Int, _ index: Int) throws -> Bitmap
  ) {
    (self.size, self.gate, self.draw) = (size, gate, draw)
  }

  /// An encoded animation.
  ///
  /// - Parameters:
  ///   - number: Up to 255.
  ///   - loops: 0 for ever.
  ///   - milliseconds: Of each frame, up to 255.
  package static func bytes(_ number: Int, loops: Int = 0, milliseconds: [Int]) -> Data {
    Data("FRAMES".utf8) + [UInt8(number), UInt8(loops)] + milliseconds.map { UInt8($0) }
  }

  package func recognizes(_ firstBytes: Data) -> Bool { firstBytes.starts(with: "FRAMES".utf8) }

  package func header(of data: Data) -> ImageHeader { ImageHeader(size: size) }

  package func decode(
    _ data: Data, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> Bitmap { try frame(0, of: data) }

  package func animation(of data: Data, within limits: DecodingLimits) -> AnimationHeader? {
    let durations = data.dropFirst(8).map { Duration.milliseconds(Int($0)) }
    if durations.count < 2 { return nil }
    return AnimationHeader(
      frameCount: durations.count, loopCount: data[7] == 0 ? nil : Int(data[7]),
      frameDurations: durations, isCut: false, workingByteCount: 1000)
  }

  package func frames(of data: Data, _ request: DecodeRequest) -> sending any FrameReader {
    Reader(decoder: self, data: data)
  }

  fileprivate func frame(_ index: Int, of data: Data) throws(ImageDecodingError) -> Bitmap {
    do { return try draw(Int(data[6]), index) } catch { throw .outOfMemory }
  }

  private final class Reader: FrameReader {
    let decoder: FramesDecoder
    let data: Data
    var index = 0

    init(decoder: FramesDecoder, data: Data) { (self.decoder, self.data) = (decoder, data) }

    func next() throws(ImageDecodingError) -> Bitmap? {
      guard index < data.count - 8 else { return nil }
      if index > 0 { decoder.gate?.waitBlocking() }
      defer { index += 1 }
      return try decoder.frame(index, of: data)
    }
  }
}
