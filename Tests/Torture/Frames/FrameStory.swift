import FastImageCache
import Foundation
import Locking
import Pixels
import TestSupport

/// Animations whose every pixel tells entity, load and index, and caches of them.
struct FrameStory: Sendable {
  static let entities = 0..<6
  static let format = ImageFormat(
    name: "frames", size: .exact(PixelSize(width: 32, height: 32)), pixelFormat: .bgrx32,
    capacity: 40, animation: .allFrames(byteLimit: 1 << 20))

  let cache: ImageCache

  /// - Parameter isMixed: Plants a fault: every third frame is another load's.
  init(path: String, isMixed: Bool = false) async throws {
    var configuration = ImageCache.Configuration()
    configuration.directory = URL(fileURLWithPath: path)
    configuration.source = Source()
    configuration.decoders = [Self.decoder(isMixed: isMixed)]
    cache = try await ImageCache(
      namespace: "frames", formats: [Self.format], configuration: configuration)
  }

  struct Entity: ImageEntity {
    let number: Int
    var imageID: ImageID { ImageID(number) }
    func sourceURL(for format: ImageFormat) -> URL? { URL(string: "frames:/\(number)") }
    func versionID(for format: ImageFormat) -> ImageID { "v" }
  }

  /// Why an animation is wrong; `nil` for a right one.
  static func fault(in animation: CachedAnimation, of entity: Int) -> String? {
    var load: UInt32?
    for index in 0..<animation.frameCount {
      let frame = animation.frame(at: index)
      let pixels = frame.image.withPixels { span in
        (0..<(32 * 32)).map { span.unsafeLoad(fromByteOffset: $0 * 4, as: UInt32.self) & 0xff_ffff }
      }
      let isWhole = pixels.allSatisfy { $0 == pixels[0] }
      let (own, number, place) = (pixels[0] & 0xff, pixels[0] >> 8 & 0xff, pixels[0] >> 16)
      // One that waits for its verification is an earlier one.
      guard isWhole, frame.isReady ? Int(place) == index : Int(place) < index else {
        return "frame \(place) at \(index), whole: \(isWhole)"
      }
      guard Int(own) == entity else { return "frame \(index) is of entity \(own)" }
      guard number == load ?? number else { return "frame \(index) is of load \(number)" }
      guard animation.frameCount == frameCount(number) else {
        return "\(animation.frameCount) frames of load \(number)"
      }
      load = number
    }
    return nil
  }

  /// Waits until each frame was verified; false if one was lost.
  static func isReady(_ animation: CachedAnimation) async -> Bool {
    while !animation.isBroken, !Task.isCancelled {
      if (0..<animation.frameCount).allSatisfy({ animation.frame(at: $0).isReady }) { return true }
      await Task.yield()
    }
    return false
  }

  /// Each answer has a number of its own, which the process's number makes rare in another one.
  private final class Source: ImageSource {
    private let calls = Lock(UInt8.random(in: 0...255))

    func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
      let number = calls.withLock { calls in
        calls &+= 1
        return calls
      }
      let entity = Int(request.url.lastPathComponent) ?? 0
      return .encoded(
        FramesDecoder.bytes(
          entity << 8 | Int(number),
          milliseconds: .init(repeating: 40, count: frameCount(UInt32(number)))))
    }
  }

  private static func frameCount(_ load: UInt32) -> Int { 1 + Int(load) % 9 }

  private static func decoder(isMixed: Bool) -> FramesDecoder {
    FramesDecoder(size: format.size) { number, index in
      guard let layout = PixelLayout(size: format.size, format: .bgrx32) else {
        throw BitmapError.outOfMemory(byteCount: 0)
      }
      let load = isMixed && index % 3 == 2 ? number + 9 : number
      return try Bitmap(layout: layout) { bytes in
        for pixel in stride(from: 0, to: bytes.count, by: 4) {
          bytes[pixel] = UInt8(number >> 8)
          bytes[pixel + 1] = UInt8(load & 0xff)
          bytes[pixel + 2] = UInt8(index)
          bytes[pixel + 3] = 255
        }
      }
    }
  }
}
