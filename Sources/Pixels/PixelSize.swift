/// A width and a height in whole pixels.
///
/// ```swift
/// let row = PixelSize(width: 200, height: 150)
/// ```
public struct PixelSize: Hashable, Sendable, Codable, CustomStringConvertible {
  /// Pixels from the left edge to the right.
  public var width: Int

  /// Pixels from the top edge to the bottom.
  public var height: Int

  /// Creates a size; any integers are accepted here and checked where they are used.
  ///
  /// - Parameters:
  ///   - width: The width in pixels.
  ///   - height: The height in pixels.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The form `200x150`.
  public var description: String { "\(width)x\(height)" }

  /// Whether both sides are at least one pixel.
  package var isPositive: Bool { width > 0 && height > 0 }

  /// Width times height, or `nil` where that does not fit.
  package var pixelCount: Int? {
    let (count, overflow) = width.multipliedReportingOverflow(by: height)
    return overflow ? nil : count
  }

  /// The same image turned by a quarter.
  package var transposed: PixelSize { PixelSize(width: height, height: width) }
}
