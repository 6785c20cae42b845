package import Pixels

extension DecodingLimits {
  /// Refuses a file that is too long, before any decoder looks at it.
  ///
  /// - Throws: ``ImageDecodingError/tooLarge(_:)`` with both numbers.
  package func check(encodedByteCount: Int) throws(ImageDecodingError) {
    guard encodedByteCount <= self.encodedByteCount else {
      throw .tooLarge(
        "The file has \(encodedByteCount) bytes; the limit is \(self.encodedByteCount).")
    }
  }

  /// Refuses sides below one pixel or beyond the limits, before any calculation uses them.
  ///
  /// - Throws: ``ImageDecodingError/damaged(_:)`` for a side below one pixel,
  ///   ``ImageDecodingError/tooLarge(_:)`` with the limit and the size.
  package func check(_ size: PixelSize) throws(ImageDecodingError) {
    guard size.isPositive else { throw .damaged("The header has a size of \(size) pixels.") }
    guard size.width <= sideLength, size.height <= sideLength else {
      throw .tooLarge("The image has \(size) pixels; the limit is \(sideLength) a side.")
    }
    guard let pixels = size.pixelCount, pixels <= pixelCount else {
      let count = size.pixelCount.map { ", \($0) in all" } ?? ""
      throw .tooLarge("The image has \(size) pixels\(count); the limit is \(pixelCount) in all.")
    }
  }

  /// Refuses an animation of too many frames, or of too many pixels in all frames.
  ///
  /// - Throws: ``ImageDecodingError/tooLarge(_:)`` with the limit and the number.
  func check(frameCount: Int, of canvas: PixelSize) throws(ImageDecodingError) {
    guard frameCount <= self.frameCount else {
      throw .tooLarge("The animation has \(frameCount) frames; the limit is \(self.frameCount).")
    }
    let (pixels, overflow) = (canvas.pixelCount ?? .max).multipliedReportingOverflow(by: frameCount)
    guard !overflow, pixels <= animationPixelCount else {
      throw .tooLarge(
        "The animation has \(frameCount) frames of \(canvas) pixels"
          + (overflow ? "" : ", \(pixels) in all") + "; the limit is \(animationPixelCount) in all."
      )
    }
  }

  /// Refuses a decode beyond the limits, before it takes memory.
  ///
  /// - Throws: ``ImageDecodingError/tooLarge(_:)`` with the limit, the memory and its parts.
  package func check(
    _ header: ImageHeader, encodedByteCount: Int, workingByteCount: Int
  ) throws(ImageDecodingError) {
    try check(encodedByteCount: encodedByteCount)
    try check(header.size)
    guard workingByteCount <= self.workingByteCount else {
      // A part of the sum, but for decoders that count in another way.
      let whole = min(header.wholeImageByteCount, workingByteCount)
      let sum =
        whole == 0
        ? "" : "\(whole) at whatever size, and \(workingByteCount - whole) "
      throw .tooLarge(
        "Decoding the image of \(header.size) pixels takes \(workingByteCount) bytes of memory: "
          + "\(sum)for the result and for rows. The limit is \(self.workingByteCount).")
    }
  }
}
