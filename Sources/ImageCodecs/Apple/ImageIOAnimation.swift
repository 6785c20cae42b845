#if canImport(ImageIO)
  import CoreGraphics
  import Foundation
  import ImageIO
  import Pixels

  extension ImageIODecoder: AnimationDecoder {
    /// Where ImageIO has loops and delays, for each kind of file. The keys within are the same strings for all.
    private static var dictionaries: [CFString] {
      [
        kCGImagePropertyGIFDictionary, kCGImagePropertyPNGDictionary,
        kCGImagePropertyWebPDictionary, kCGImagePropertyHEICSDictionary,
        kCGImagePropertyAVISDictionary,
      ]
    }

    package func animation(
      of data: Data, within limits: DecodingLimits
    ) throws(ImageDecodingError) -> AnimationHeader? {
      try limits.check(encodedByteCount: data.count)
      return try animation(source(data, isWhole: false), data.count, within: limits)
    }

    package func frames(
      of data: Data, _ request: DecodeRequest
    ) throws(ImageDecodingError) -> sending any FrameReader {
      try request.limits.check(encodedByteCount: data.count)
      let source = try source(data, isWhole: false)
      guard let animation = try animation(source, data.count, within: request.limits) else {
        throw .unsupported("An image that does not move has no frames.")
      }
      return ImageIOFrames(
        self, source, try header(of: source).size, animation.frameCount, request)
    }

    private func animation(
      _ source: CGImageSource, _ encodedByteCount: Int, within limits: DecodingLimits
    ) throws(ImageDecodingError) -> AnimationHeader? {
      let count = CGImageSourceGetCount(source)
      // A HEIC file may have several images that are no sequence.
      guard count > 1, let properties = Self.properties(CGImageSourceCopyProperties(source, nil))
      else { return nil }
      let header = try header(of: source)
      // ImageIO composes the frames on a canvas of its own.
      try limits.check(header.size)
      let whole = workingByteCount(for: header, minimumSize: nil)
      let byteCount = min(whole, .max / 2) / 2 * 3
      try limits.check(frameCount: count, of: header.size)
      try limits.check(
        header, encodedByteCount: encodedByteCount, workingByteCount: byteCount)
      let frameCount = (0..<count).prefix { Self.isWhole(source, $0, of: count) }.count
      guard frameCount > 0 else { throw .truncated }
      // Without a number a file plays once.
      let loopCount = properties[kCGImagePropertyGIFLoopCount] as? Int ?? 1
      return AnimationHeader(
        frameCount: frameCount, loopCount: loopCount == 0 ? nil : loopCount,
        frameDurations: (0..<frameCount).map { Self.duration(source, $0, properties) },
        isCut: frameCount < count, workingByteCount: byteCount)
    }

    /// ImageIO tells of the last frame only by the whole file.
    private static func isWhole(_ source: CGImageSource, _ index: Int, of count: Int) -> Bool {
      let status =
        index == count - 1
        ? CGImageSourceGetStatus(source) : CGImageSourceGetStatusAtIndex(source, index)
      return status == .statusComplete
    }

    private static func properties(_ properties: CFDictionary?) -> [CFString: Any]? {
      let properties = properties as? [CFString: Any]
      return dictionaries.lazy.compactMap { properties?[$0] as? [CFString: Any] }.first
    }

    /// The delay of a frame, which sequences of HEIC and AVIF have in the properties of the file.
    private static func duration(
      _ source: CGImageSource, _ index: Int, _ properties: [CFString: Any]
    ) -> Duration {
      let all = properties[kCGImagePropertyGIFFrameInfoArray] as? [[CFString: Any]] ?? []
      let own = Self.properties(CGImageSourceCopyPropertiesAtIndex(source, index, nil))
      let frame = own ?? (index < all.count ? all[index] : [:])
      let seconds =
        frame[kCGImagePropertyGIFUnclampedDelayTime] ?? frame[kCGImagePropertyGIFDelayTime]
      return .ofFrame(seconds: seconds as? Double ?? 0)
    }
  }

  /// The frames of one file, which ImageIO composes.
  private final class ImageIOFrames: FrameReader {
    private let decoder: ImageIODecoder
    private let source: CGImageSource
    private let size: PixelSize
    private let frameCount: Int
    private let request: DecodeRequest
    private var index = 0

    init(
      _ decoder: ImageIODecoder, _ source: CGImageSource, _ size: PixelSize, _ frameCount: Int,
      _ request: DecodeRequest
    ) {
      self.decoder = decoder
      self.source = source
      self.size = size
      self.frameCount = frameCount
      self.request = request
    }

    func next() throws(ImageDecodingError) -> Bitmap? {
      guard index < frameCount else { return nil }
      if request.isCancelled() { throw .cancelled }
      var header = try decoder.header(of: source, at: index)
      header.size = size
      let bitmap = try decoder.decode(source, at: index, header, size, request)
      guard bitmap.size == size else {
        throw .damaged("A frame has \(bitmap.size) pixels, and its canvas \(size).")
      }
      index += 1
      return bitmap
    }
  }
#endif
