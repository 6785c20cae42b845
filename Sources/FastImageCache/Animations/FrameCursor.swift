import ImageCodecs
import Locking
import Pixels

/// Reads the frames of an animation in their order, across the jobs of a worker.
///
/// One job at a time uses a cursor. The lock makes that certain, and is held while a frame is decoded: nothing waits
/// for it.
final class FrameCursor: Sendable {
  private struct State {
    var reader: (any FrameReader)?
    var index = 0
    /// Of the processor, for all frames so far.
    var worked = Duration.zero
  }

  let frames: SourceFrames
  private let limits: DecodingLimits
  private let colorSpace: ColorSpace
  private let settings: [String: String]
  private let state = Lock(State())
  private let isCancelled = Lock<@Sendable () -> Bool>({ false })

  /// - Parameters:
  ///   - colorSpace: The widest one of the images that will be drawn.
  ///   - settings: What the requests tell a decoder of the program's own.
  init(
    _ frames: SourceFrames, limits: DecodingLimits, colorSpace: ColorSpace,
    settings: [String: String]
  ) {
    (self.frames, self.limits) = (frames, limits)
    (self.colorSpace, self.settings) = (colorSpace, settings)
  }

  /// The index of the frame that comes next.
  var index: Int { state.withLock { $0.index } }

  /// Begins anew with the first frame.
  func rewind() {
    state.withLock { state in
      (state.reader, state.index, state.worked) = (nil, 0, .zero)
    }
  }

  /// The next frame; `nil` after the last.
  ///
  /// - Throws: Also ``ImageDecodingError/tooLarge(_:)`` where the frames take more of the processor than the limit.
  func next(
    unless isCancelled: @escaping @Sendable () -> Bool
  ) throws(ImageDecodingError) -> (index: Int, bitmap: Bitmap)? {
    self.isCancelled.withLock { $0 = isCancelled }
    return try state.withLock { state throws(ImageDecodingError) in
      if isCancelled() { throw .cancelled }
      guard state.index < frames.timeline.frameCount else { return nil }
      let start = ThreadTime.now
      if state.reader == nil { state.reader = try makeReader() }
      guard let bitmap = try state.reader?.next() else {
        throw .damaged("The animation has fewer frames than it says.")
      }
      state.worked += ThreadTime.now - start
      guard state.worked <= limits.animationTime else {
        throw .tooLarge(
          "Reading \(state.index) of \(frames.timeline.frameCount) frames took more of the processor "
            + "than the limit of \(limits.animationTime).")
      }
      state.index += 1
      return (state.index - 1, bitmap)
    }
  }

  private func makeReader() throws(ImageDecodingError) -> sending any FrameReader {
    var request = DecodeRequest(limits: limits) { [isCancelled] in isCancelled.withLock { $0 }() }
    request.colorSpace = colorSpace
    request.settings = settings
    return try frames.decoder.frames(of: frames.bytes, request)
  }
}
