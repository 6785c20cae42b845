import Pixels

/// The turn that brings a stored image upright: the eight values of EXIF 2.32,
/// tag 0x0112. Each name says which way the stored image's top has to go.
enum Orientation: UInt32, CaseIterable, Sendable {
  case up = 1
  case upMirrored
  case down
  case downMirrored
  case leftMirrored
  case right
  case rightMirrored
  case left

  /// Whether width and height change places.
  var isTransposing: Bool { rawValue >= Self.leftMirrored.rawValue }

  /// Whether the stored image's right or bottom edge becomes the left one.
  private var isFlippedAcross: Bool {
    switch self {
    case .upMirrored, .down, .right, .rightMirrored: true
    case .up, .downMirrored, .leftMirrored, .left: false
    }
  }

  /// Whether the stored image's right or bottom edge becomes the top one.
  private var isFlippedDown: Bool {
    switch self {
    case .down, .downMirrored, .rightMirrored, .left: true
    case .up, .upMirrored, .leftMirrored, .right: false
    }
  }

  /// The image's edges in an upright bitmap whose pixels show `factor` times `factor` pixels
  /// each. Padding lies at the end of the stored rows and columns, and is turned with them.
  ///
  /// - Parameters:
  ///   - fullSize: The upright image's size.
  ///   - size: The upright bitmap's size.
  func edges(of fullSize: PixelSize, reducedBy factor: Double, to size: PixelSize) -> ImageEdges {
    let stored = turning(fullSize)
    return edges(
      of: fullSize, x: 0, y: 0, width: Double(stored.width) / factor,
      height: Double(stored.height) / factor, to: size)
  }

  /// The image's edges in an upright bitmap.
  ///
  /// - Parameters:
  ///   - fullSize: The upright image's size.
  ///   - x: The left edge in the stored bitmap; `y`, `width` and `height` likewise.
  ///   - size: The upright bitmap's size.
  func edges(
    of fullSize: PixelSize, x: Double, y: Double, width: Double, height: Double, to size: PixelSize
  ) -> ImageEdges {
    let (left, across) = isTransposing ? (y, height) : (x, width)
    let (top, down) = isTransposing ? (x, width) : (y, height)
    return ImageEdges(
      x: isFlippedAcross ? Double(size.width) - left - across : left,
      y: isFlippedDown ? Double(size.height) - top - down : top, width: across, height: down,
      fullSize: fullSize)
  }

  /// The part of the stored image that becomes a part of the upright one.
  ///
  /// - Parameters:
  ///   - region: In pixels of the upright image.
  ///   - fullSize: The upright image's size.
  func storing(_ region: ImageRegion, of fullSize: PixelSize) -> ImageRegion {
    func mirrored(_ range: Range<Int>, in count: Int) -> Range<Int> {
      count - range.upperBound..<count - range.lowerBound
    }
    let across =
      isFlippedAcross ? mirrored(region.columns, in: fullSize.width) : region.columns
    let down = isFlippedDown ? mirrored(region.rows, in: fullSize.height) : region.rows
    return isTransposing
      ? ImageRegion(columns: down, rows: across) : ImageRegion(columns: across, rows: down)
  }

  /// The upright size of a stored one, and the stored size of an upright one.
  func turning(_ size: PixelSize) -> PixelSize { isTransposing ? size.transposed : size }
}

extension Orientation {
  private static let tag = 0x0112

  /// Reads the orientation out of EXIF metadata; malformed metadata means upright.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the file or more.
  ///   - range: Where in them the metadata lies: a TIFF structure, perhaps after `Exif\0\0`.
  init(exif bytes: RawSpan, in range: Range<Int>?) {
    let exif = ExifBlock(bytes, in: range)
    let value = exif?.firstDirectory(bytes).flatMap {
      exif?.number(Self.tag, .short, inDirectory: $0, bytes)
    }
    self = value.flatMap { Self(rawValue: UInt32($0)) } ?? .up
  }
}
