import FastImageCache
import Foundation
import ImageCodecs
import TestSupport

/// Reads animations that a test writes in a few bytes: frame `n` of number `x` is ``solid(_:size:)`` of `100 x + n`.
struct MovingDecoder: AnimationDecoder {
  let decodes = Counter()
  /// Frames that readers have read.
  let reads = Counter()
  /// Frames behind the first wait here.
  var gate: Gate?
  /// This frame cannot be read.
  var damaged: Int?
  var duration: @Sendable (Int) -> Duration = { .milliseconds(20 + $0 * 10) }

  /// What a file has beside its frames.
  enum Oddity: UInt8 {
    case nothing, isCut
    /// The still is none of the frames.
    case hasOtherStill
  }

  /// Encoded bytes.
  static func bytes(_ number: Int, frames: Int, _ oddity: Oddity = .nothing) -> Data {
    Data("MOVE".utf8 + [UInt8(number), UInt8(frames), oddity.rawValue])
  }

  func recognizes(_ firstBytes: Data) -> Bool { firstBytes.starts(with: "MOVE".utf8) }

  func header(of data: Data) -> ImageHeader {
    ImageHeader(size: PixelSize(width: 16, height: 16))
  }

  func decode(_ data: Data, _ request: DecodeRequest) throws(ImageDecodingError) -> Bitmap {
    decodes.increment()
    return try Self.frame(data[6] == Oddity.hasOtherStill.rawValue ? 99 : 0, of: data)
  }

  func animation(
    of data: Data, within limits: DecodingLimits
  ) throws(ImageDecodingError) -> AnimationHeader? {
    let count = Int(data[5])
    guard count <= 100 else { throw .tooLarge("\(count) frames") }
    if count == 1 { return nil }
    return AnimationHeader(
      frameCount: count, loopCount: 2,
      frameDurations: (0..<count).map(duration), isCut: data[6] == Oddity.isCut.rawValue,
      workingByteCount: 1000)
  }

  func frames(
    of data: Data, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> sending any FrameReader {
    Reader(decoder: self, data: data)
  }

  fileprivate static func frame(_ index: Int, of data: Data) throws(ImageDecodingError) -> Bitmap {
    do { return try solid(Int(data[4]) * 100 + index) } catch { throw .outOfMemory }
  }

  private final class Reader: FrameReader {
    let decoder: MovingDecoder
    let data: Data
    var index = 0

    init(decoder: MovingDecoder, data: Data) { (self.decoder, self.data) = (decoder, data) }

    func next() throws(ImageDecodingError) -> Bitmap? {
      guard index < Int(data[5]) else { return nil }
      if index > 0 { decoder.gate?.waitBlocking() }
      if index == decoder.damaged { throw .damaged("frame \(index)") }
      decoder.reads.increment()
      defer { index += 1 }
      return try MovingDecoder.frame(index, of: data)
    }
  }
}

extension CachedAnimation {
  /// The numbers of the frames that are ready; `nil` for one that is not.
  var numbers: [Int?] {
    (0..<frameCount).map { index in
      let frame = frame(at: index)
      return frame.isReady ? frame.image.solidNumber : nil
    }
  }

  /// Waits until all frames are there, or the test's time is over.
  func ready() async {
    while numbers.contains(nil), !Task.isCancelled { await Task.yield() }
  }
}

extension ImageFormat {
  static let sticker = ImageFormat(
    name: "sticker", size: .exact(PixelSize(width: 32, height: 32)), pixelFormat: .bgrx32,
    capacity: 16, animation: .allFrames(byteLimit: 1 << 20))

  func keeping(_ animation: Animation, capacity: Capacity = 16) -> ImageFormat {
    ImageFormat(
      name: name, size: .exact(size), pixelFormat: pixelFormat, capacity: capacity,
      animation: animation)
  }
}

/// A source of animations: `moving:/NUMBER/FRAMES`.
func movingSource() -> ScriptedSource {
  ScriptedSource { url, _, _ in
    let parts = url.pathComponents.dropFirst().compactMap { Int($0) }
    return .encoded(MovingDecoder.bytes(parts[0], frames: parts[1]))
  }
}
