#if !canImport(ImageIO)
  import Foundation
  import Pixels

  /// Takes the rows of a file that is cut, or damaged within, as far as they can be read, and leaves the rest of the
  /// image blank.
  final class TopRows {
    /// How many rows have been read.
    private(set) var count = 0
    /// Whether a row could not be read.
    private(set) var hasEnded = false
    private let format: PixelFormat
    private let endsAtDamage: Bool

    /// - Parameter endsAtDamage: Whether bytes that contradict the format end the rows, as the end of the file does.
    init(_ format: PixelFormat, endsAtDamage: Bool = false) {
      (self.format, self.endsAtDamage) = (format, endsAtDamage)
    }

    /// Writes the next rows.
    ///
    /// - Parameters:
    ///   - step: How many rows are read at once, and lost together.
    ///   - read: Reads so many rows.
    func write(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int, width: Int, step: Int = 1,
      _ read: (_ rows: UnsafeMutablePointer<UInt8>, _ count: Int) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
      for first in stride(from: 0, to: count, by: step) {
        let (start, part) = (rows + first * rowBytes, min(step, count - first))
        try readUnlessEnded(part) { () throws(ImageDecodingError) in try read(start, part) }
        if hasEnded { format.writeBlank(start, rowBytes, part, width: width) }
      }
    }

    /// Reads rows, unless the file has ended before.
    func readUnlessEnded(
      _ count: Int, _ read: () throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
      if hasEnded { return }
      do throws(ImageDecodingError) {
        try read()
        self.count += count
      } catch {
        guard error == .truncated || endsAtDamage && error.isDamage else { throw error }
        hasEnded = true
      }
    }

    /// The bitmap that was written, unless nothing of it was read.
    func preview(_ bitmap: Bitmap, of rowCount: Int) throws(ImageDecodingError) -> DecodedPreview {
      guard count > 0 else { throw .truncated }
      return DecodedPreview(bitmap, part: Double(count) / Double(rowCount))
    }
  }

  extension ImageDecodingError {
    /// Whether the file has less than an image.
    var isDamage: Bool {
      switch self {
      case .truncated, .damaged: true
      default: false
      }
    }
  }

  extension PixelFormat {
    /// Writes rows of pixels that a file lacks: transparent ones, or gray where there is no transparency.
    func writeBlank(
      _ rows: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ count: Int, width: Int
    ) {
      for row in 0..<count {
        let start = rows + row * rowBytes
        memset(start, self == .bgra32 ? 0 : 128, width * bytesPerPixel)
        guard self == .bgrx32 else { continue }
        for pixel in 0..<width { start[4 * pixel + 3] = 255 }
      }
    }
  }
#endif
