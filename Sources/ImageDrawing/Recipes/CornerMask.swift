import Pixels

/// How much of each pixel lies inside of a rectangle with round corners.
///
/// Along a row the share is exact for 16 lines through the pixels, and the lines are averaged.
struct CornerMask: Sendable {
  private static let linesPerPixel = 16

  private let width: Double
  private let height: Double
  private let xRadius: Double
  private let yRadius: Double

  /// Returns `nil` where the corners are square.
  ///
  /// - Parameters:
  ///   - size: The image's, in pixels.
  ///   - scale: Pixels to a point.
  init?(_ corners: Drawing.Corners, size: PixelSize, scale: Double) {
    width = Double(size.width)
    height = Double(size.height)
    switch corners {
    case .square:
      return nil
    case .rounded(let radius):
      let pixels = min(radius * scale, width / 2, height / 2)
      guard pixels > 0 else { return nil }
      xRadius = pixels
      yRadius = pixels
    case .ellipse:
      xRadius = width / 2
      yRadius = height / 2
    }
  }

  /// Computes the left half of a row; the right half is its mirror image.
  ///
  /// - Parameters:
  ///   - y: The row.
  ///   - coverage: Room for half of the row's pixels, rounded up. Receives a byte for each pixel
  ///     that the result counts, from 0 for outside to 255 for inside.
  /// - Returns: How many pixels, from the left edge on, are not inside completely.
  func writeCoverage(ofRow y: Int, to coverage: UnsafeMutablePointer<UInt8>) -> Int {
    var insets: [Double] = []
    insets.reserveCapacity(Self.linesPerPixel)
    for line in 0..<Self.linesPerPixel {
      insets.append(inset(at: Double(y) + (Double(line) + 0.5) / Double(Self.linesPerPixel)))
    }
    let deepest = insets.reduce(0, max)
    let count = min(Int(deepest.rounded(.up)), (Int(width) + 1) / 2)
    for x in 0..<count {
      var inside = 0.0
      for inset in insets {
        let left = max(Double(x), inset)
        let right = min(Double(x + 1), width - inset)
        inside += max(0, right - left)
      }
      coverage[x] = UInt8((inside * 255 / Double(Self.linesPerPixel)).rounded())
    }
    return count
  }

  /// How far the outline stays away from the left edge on a line.
  private func inset(at y: Double) -> Double {
    let depth = min(y, height - y)
    guard depth < yRadius else { return 0 }
    let fromCenter = (yRadius - depth) / yRadius
    return xRadius * (1 - max(0, 1 - fromCenter * fromCenter).squareRoot())
  }
}
