import Foundation
import Pixels

/// The test that a camera's thumbnail has to pass before it stands in for its image.
///
/// A thumbnail may have black bars, since many cameras store 160 times 120 pixels whatever the image's
/// proportions, and it may show the image as it was before somebody cropped it. So what lies beside the
/// image's proportions has to be black, and is then left out; any other thumbnail makes no preview.
enum EmbeddedThumbnail {
  /// Proportions that differ by less are the same: sides are whole numbers of pixels.
  private static let tolerance = 0.02

  /// The mean of a black row's colours; JPEG leaves some noise.
  private static let blackest = 16

  /// A thumbnail of fewer pixels along a side, as a part of those wanted, shows too little. Twice as many are
  /// wanted as are shown.
  private static let smallestPart = 8

  /// - Parameters:
  ///   - bitmap: The upright thumbnail, in three colours or gray.
  ///   - fullSize: The upright image's size.
  ///   - wanted: The size that a decode of the image would have.
  /// - Returns: The thumbnail with the image's edges; `nil` if it cannot stand in for the image.
  static func check(_ bitmap: Bitmap, of fullSize: PixelSize, wanted: PixelSize) -> Bitmap? {
    let (width, height) = (Double(bitmap.size.width), Double(bitmap.size.height))
    let proportions = Double(fullSize.width) / Double(fullSize.height)
    let difference = width / height / proportions
    var (across, down) = (0.0, 0.0)
    if difference > 1 + tolerance {
      across = ((width - height * proportions) / 2).rounded(.up)
    } else if difference < 1 / (1 + tolerance) {
      down = ((height - width / proportions) / 2).rounded(.up)
    }
    let inner = (width: width - 2 * across, height: height - 2 * down)
    guard Int(inner.width) * smallestPart >= wanted.width,
      Int(inner.height) * smallestPart >= wanted.height, inner.width >= 1, inner.height >= 1,
      bitmap.hasBars(across: Int(across), down: Int(down), blackest: blackest)
    else { return nil }
    return bitmap.withEdges(
      ImageEdges(
        x: across, y: down, width: inner.width, height: inner.height, fullSize: fullSize))
  }
}

extension Bitmap {
  /// Whether so many columns and rows at the edges are black, but for those next to the image, into which
  /// its colours spread.
  fileprivate func hasBars(across: Int, down: Int, blackest: Int) -> Bool {
    func isBlack(_ columns: Range<Int>, _ rows: Range<Int>) -> Bool {
      guard !columns.isEmpty, !rows.isEmpty else { return true }
      let pixelBytes = layout.format.bytesPerPixel
      return withUnsafeBytes { bytes in
        let sum = rows.reduce(0) { sum, y in
          columns.reduce(sum) { sum, x in
            let pixel = y * layout.rowBytes + x * pixelBytes
            return sum + (0..<min(pixelBytes, 3)).reduce(0) { $0 + Int(bytes[pixel + $1]) }
          }
        }
        return sum <= blackest * rows.count * columns.count * min(pixelBytes, 3)
      }
    }
    // The bars' own lines one by one: a bar that is black on average may be a dark image.
    let (width, height) = (size.width, size.height)
    func checked(_ count: Int) -> Range<Int> { 0..<max(min(count, 1), count - 2) }
    let columns = checked(across).flatMap { [$0, width - 1 - $0] }
    let rows = checked(down).flatMap { [$0, height - 1 - $0] }
    return columns.allSatisfy { isBlack($0..<$0 + 1, 0..<height) }
      && rows.allSatisfy { isBlack(0..<width, $0..<$0 + 1) }
  }
}
