#if !canImport(ImageIO)
  import Foundation
  import Pixels

  /// A frame as a file stores it: a rectangle that is drawn on what the frames before it left.
  struct StoredFrame {
    /// What becomes of the canvas before the next frame is drawn.
    enum Disposal {
      /// Stays as it is.
      case keep
      /// The frame's rectangle becomes transparent.
      case clear
      /// Becomes what it was before the frame.
      case restore
    }

    var x: Int
    var y: Int
    var size: PixelSize
    var duration: Duration
    var disposal: Disposal
    /// Whether the canvas shows through where the frame is transparent. Otherwise the frame replaces it.
    var isBlended: Bool
    /// Where the file has the frame.
    var range: Range<Int>

    /// The part on a canvas: columns and rows of the canvas, perhaps none.
    func part(of canvas: PixelSize) -> (columns: Range<Int>, rows: Range<Int>) {
      let (right, bottom) = (min(x + size.width, canvas.width), min(y + size.height, canvas.height))
      return (min(x, right)..<right, min(y, bottom)..<bottom)
    }

    func covers(_ canvas: PixelSize) -> Bool { x == 0 && y == 0 && size == canvas }

    func isInside(_ canvas: PixelSize) -> Bool {
      x + size.width <= canvas.width && y + size.height <= canvas.height
    }
  }

  /// The frames of an animation whose canvas we compose.
  struct StoredAnimation {
    let canvas: PixelSize
    let orientation: Orientation
    var loopCount: Int?
    var isCut = false

    /// Those within the limit.
    private(set) var frames: [StoredFrame] = []
    private(set) var frameCount = 0

    init(canvas: PixelSize, orientation: Orientation = .up, loopCount: Int?) {
      self.canvas = canvas
      self.orientation = orientation
      self.loopCount = loopCount
    }

    mutating func append(_ frame: StoredFrame, within limits: DecodingLimits) {
      frameCount += 1
      if frames.count < limits.frameCount { frames.append(frame) }
    }

    /// Checks all limits.
    ///
    /// - Parameters:
    ///   - encodedByteCount: The whole file's.
    ///   - decodingByteCount: What decoding one frame takes beside its pixels.
    /// - Returns: `nil` for a single frame.
    func header(
      within limits: DecodingLimits, encodedByteCount: Int, decodingByteCount: Int
    ) throws(ImageDecodingError) -> AnimationHeader? {
      guard frameCount > 0 else { throw .truncated }
      guard frameCount > 1 || isCut else { return nil }
      // The canvas before the frame, and the one with it; perhaps the frame by itself, and the canvas upright.
      let whole = PixelLayout.byteCount(size: canvas, format: .bgra32)
      let scratch = frames.lazy.filter { $0.isBlended || !$0.isInside(canvas) }
        .map { PixelLayout.byteCount(size: $0.size, format: .bgra32) }.max()
      let byteCount = [whole, orientation == .up ? 0 : whole, scratch ?? 0, decodingByteCount]
        .reduce(whole) { $0.addingClamped($1) }
      try limits.check(frameCount: frameCount, of: canvas)
      try limits.check(
        ImageHeader(size: orientation.turning(canvas)), encodedByteCount: encodedByteCount,
        workingByteCount: byteCount)
      return AnimationHeader(
        frameCount: frameCount, loopCount: loopCount, frameDurations: frames.map(\.duration),
        isCut: isCut, workingByteCount: byteCount)
    }
  }

  /// The frames of one file: where they are, and how each is decoded.
  protocol FrameSource {
    /// Finds the frames; `nil` for a file that does not move.
    init?(_ bytes: UnsafeRawBufferPointer, within limits: DecodingLimits)
      throws(ImageDecodingError)

    var animation: StoredAnimation { get }

    /// What decoding one frame takes beside its pixels.
    var decodingByteCount: Int { get }

    func conversion(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) -> LCMSConversion?

    /// Prepares to decode a frame, whose bytes stay in place for the result's life.
    func open(
      _ frame: StoredFrame, _ bytes: UnsafeRawBufferPointer
    ) throws(ImageDecodingError) -> any EncodedFrame
  }

  /// One frame that is about to be decoded.
  protocol EncodedFrame: AnyObject {
    var hasAlpha: Bool { get }

    /// Writes all rows: blue, green, red multiplied by alpha, alpha.
    func read(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, unless isCancelled: () -> Bool
    ) throws(ImageDecodingError)
  }

  /// A decoder whose frames ``FrameComposer`` draws on their canvas.
  protocol FrameSourceDecoder: AnimationDecoder {
    associatedtype Source: FrameSource
  }

  extension FrameSourceDecoder {
    package func animation(
      of data: Data, within limits: DecodingLimits
    ) throws(ImageDecodingError) -> AnimationHeader? {
      try limits.check(encodedByteCount: data.count)
      return try data.lendBytes { bytes throws(ImageDecodingError) in
        try Source(bytes, within: limits)?.header(within: limits, bytes.count)
      }
    }

    package func frames(
      of data: Data, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> sending any FrameReader {
      try request.limits.check(encodedByteCount: data.count)
      return try data.lendBytes { bytes throws(ImageDecodingError) in
        guard let source = try Source(bytes, within: request.limits),
          try source.header(within: request.limits, bytes.count) != nil
        else { throw .unsupported("An image that does not move has no frames.") }
        return FrameComposer(
          source, data, conversion: try source.conversion(bytes), isCancelled: request.isCancelled)
      }
    }
  }

  extension FrameSource {
    fileprivate func header(
      within limits: DecodingLimits, _ encodedByteCount: Int
    ) throws(ImageDecodingError) -> AnimationHeader? {
      try animation.header(
        within: limits, encodedByteCount: encodedByteCount, decodingByteCount: decodingByteCount)
    }
  }
#endif
