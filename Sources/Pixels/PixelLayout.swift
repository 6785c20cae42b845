/// Where the rows and pixels of one image lie in memory.
///
/// The first row is the top one. Each row starts ``rowBytes`` after the one above.
public struct PixelLayout: Hashable, Sendable {
  /// Rows start at multiples of this many bytes, the alignment at which Core Animation takes an
  /// image without copying it.
  package static let rowAlignment = 64

  /// Width and height in pixels.
  public let size: PixelSize

  /// How one pixel lies in memory.
  public let format: PixelFormat

  /// Bytes from the start of one row to the start of the next.
  public let rowBytes: Int

  /// Bytes from the first pixel to the end of the last row, its padding included.
  public let byteCount: Int

  /// Creates the layout that tables and decoders use, for a size that is known to be good: that of an
  /// image, or one written in the source.
  ///
  /// ```swift
  /// let layout = PixelLayout(for: PixelSize(width: 2, height: 2), format: .gray8)
  /// ```
  ///
  /// - Parameters:
  ///   - size: In pixels. A size without pixels, or one whose bytes cannot be counted, traps;
  ///     ``init(size:format:)`` returns `nil` for these.
  ///   - format: How one pixel lies in memory.
  public init(for size: PixelSize, format: PixelFormat) {
    guard let layout = PixelLayout(size: size, format: format) else {
      preconditionFailure("An image of \(size) pixels has no layout.")
    }
    self = layout
  }

  /// Creates the layout that tables and decoders use: rows padded to multiples of 64 bytes.
  ///
  /// Returns `nil` for a size without pixels or one whose bytes cannot be counted in an `Int`.
  public init?(size: PixelSize, format: PixelFormat) {
    let (pixels, tooWide) = size.width.multipliedReportingOverflow(by: format.bytesPerPixel)
    let (padded, tooPadded) = pixels.addingReportingOverflow(Self.rowAlignment - 1)
    guard !tooWide, !tooPadded else { return nil }
    self.init(size: size, format: format, rowBytes: padded & ~(Self.rowAlignment - 1))
  }

  /// Creates a layout whose rows start `rowBytes` apart.
  ///
  /// Returns `nil` for a size without pixels, for rows too short for their pixels, or where the
  /// bytes cannot be counted in an `Int`.
  public init?(size: PixelSize, format: PixelFormat, rowBytes: Int) {
    let (pixels, tooWide) = size.width.multipliedReportingOverflow(by: format.bytesPerPixel)
    let (bytes, tooLarge) = rowBytes.multipliedReportingOverflow(by: size.height)
    guard size.isPositive, !tooWide, !tooLarge, rowBytes >= pixels else { return nil }
    self.size = size
    self.format = format
    self.rowBytes = rowBytes
    self.byteCount = bytes
  }
}
