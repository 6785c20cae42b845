import FastImageCache
import Foundation
import TestSupport

/// Frame `n` of number `x` is ``solid(_:size:)`` of `100 x + n`.
func movingDecoder() -> FramesDecoder {
  FramesDecoder(size: PixelSize(width: 16, height: 16)) { try solid($0 * 100 + $1) }
}

/// An encoded animation for it, of two loops, whose frames take 20, 30, 40… ms.
func moving(_ number: Int, frames: Int, _ oddity: FramesDecoder.Oddity = .nothing) -> Data {
  FramesDecoder.bytes(
    number, loops: 2, milliseconds: (0..<frames).map { 20 + $0 * 10 }, oddity)
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
    return .encoded(moving(parts[0], frames: parts[1]))
  }
}
