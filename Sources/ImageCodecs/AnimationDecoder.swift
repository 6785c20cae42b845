package import Foundation
package import Pixels

/// A decoder that also reads the frames of animations.
package protocol AnimationDecoder: ImageDecoder {
  /// Reads count, loops and durations without decoding a pixel.
  ///
  /// - Returns: `nil` for an image that does not move.
  /// - Throws: ``ImageDecodingError/truncated`` where no frame is whole, and ``ImageDecodingError/tooLarge(_:)``
  ///   for an animation beyond the limits.
  func animation(
    of data: Data, within limits: DecodingLimits
  ) throws(ImageDecodingError) -> AnimationHeader?

  /// Begins to read the frames, from the first.
  ///
  /// The reader keeps `data` for its life. It asks `request.isCancelled` before each frame and within large ones,
  /// and it reads at full size, whatever size the request asks for.
  ///
  /// - Throws: As ``animation(of:within:)``, before it takes memory.
  func frames(
    of data: Data, _ request: DecodeRequest
  ) throws(ImageDecodingError) -> sending any FrameReader
}

/// What an animation says of itself.
package struct AnimationHeader: Hashable, Sendable {
  /// Whole frames in the file.
  package var frameCount: Int

  /// How often the animation plays; `nil` for ever.
  package var loopCount: Int?

  /// How long each frame is shown.
  package var frameDurations: [Duration]

  /// Whether frames are missing at the end.
  package var isCut: Bool

  /// The private memory that reading frames takes at its peak, in bytes, one result included.
  package var workingByteCount: Int

  package init(
    frameCount: Int, loopCount: Int?, frameDurations: [Duration], isCut: Bool,
    workingByteCount: Int
  ) {
    (self.frameCount, self.loopCount, self.isCut) = (frameCount, loopCount, isCut)
    (self.frameDurations, self.workingByteCount) = (frameDurations, workingByteCount)
  }
}

/// Reads the composed frames of an animation in order, for one thread at a time.
package protocol FrameReader: AnyObject {
  /// The next frame, upright, on the whole canvas at full size, as ``ImageDecoder/decode(_:_:)`` gives a still.
  ///
  /// - Returns: `nil` after the last frame.
  /// - Throws: ``ImageDecodingError``; no call follows one that threw.
  func next() throws(ImageDecodingError) -> Bitmap?
}

extension Duration {
  /// How long a frame is shown, in nanoseconds: as browsers have it, 100 ms instead of less than 11 ms, and a day at
  /// most.
  ///
  /// - Parameter seconds: What the file says.
  static func ofFrame(seconds: Double) -> Duration {
    guard seconds >= 0.011 else { return .milliseconds(100) }
    return .nanoseconds(Int64((min(seconds, 86_400) * 1e9).rounded()))
  }
}
