import Pixels

/// The turn that brings a stored picture upright: the eight values of EXIF 2.32,
/// tag 0x0112. Each name says which way the stored picture's top has to go.
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

  /// Whether the stored picture's right or bottom edge becomes the left one.
  private var isFlippedAcross: Bool {
    switch self {
    case .upMirrored, .down, .right, .rightMirrored: true
    case .up, .downMirrored, .leftMirrored, .left: false
    }
  }

  /// Whether the stored picture's right or bottom edge becomes the top one.
  private var isFlippedDown: Bool {
    switch self {
    case .down, .downMirrored, .rightMirrored, .left: true
    case .up, .upMirrored, .leftMirrored, .right: false
    }
  }

  /// The picture's edges in an upright bitmap whose pixels show `factor` times `factor` pixels
  /// each. Padding lies at the end of the stored rows and columns, and is turned with them.
  ///
  /// - Parameters:
  ///   - fullSize: The upright picture's size.
  ///   - size: The upright bitmap's size.
  func edges(of fullSize: PixelSize, reducedBy factor: Double, to size: PixelSize) -> PictureEdges {
    let stored = turning(fullSize)
    return edges(
      of: fullSize, x: 0, y: 0, width: Double(stored.width) / factor,
      height: Double(stored.height) / factor, to: size)
  }

  /// The picture's edges in an upright bitmap.
  ///
  /// - Parameters:
  ///   - fullSize: The upright picture's size.
  ///   - x: The left edge in the stored bitmap; `y`, `width` and `height` likewise.
  ///   - size: The upright bitmap's size.
  func edges(
    of fullSize: PixelSize, x: Double, y: Double, width: Double, height: Double, to size: PixelSize
  ) -> PictureEdges {
    let (left, across) = isTransposing ? (y, height) : (x, width)
    let (top, down) = isTransposing ? (x, width) : (y, height)
    return PictureEdges(
      x: isFlippedAcross ? Double(size.width) - left - across : left,
      y: isFlippedDown ? Double(size.height) - top - down : top, width: across, height: down,
      fullSize: fullSize)
  }

  /// The upright size of a stored one, and the stored size of an upright one.
  func turning(_ size: PixelSize) -> PixelSize { isTransposing ? size.transposed : size }
}

extension Orientation {
  private static let tag = 0x0112
  private static let shortType = 3
  private static let entryLimit = 512

  /// Larger metadata is ignored; a JPEG segment cannot hold more.
  static let metadataLimit = 64 << 10

  /// Reads the orientation out of EXIF metadata; malformed metadata means upright.
  ///
  /// Only the first directory is read and no other pointer followed, so reading always ends.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the file or more.
  ///   - range: Where in them the metadata lies: a TIFF structure, perhaps after `Exif\0\0`.
  init(exif bytes: RawSpan, in range: Range<Int>?) {
    self = .up
    guard var range, range.lowerBound >= 0, range.upperBound <= bytes.byteCount,
      range.count <= Self.metadataLimit
    else { return }
    if bytes.extracting(range).has("Exif\0\0", at: 0) {
      range = range.lowerBound + 6..<range.upperBound
    }
    let tiff = bytes.extracting(range)

    let isLittle = tiff.has("II", at: 0)
    guard isLittle || tiff.has("MM", at: 0) else { return }
    func short(_ offset: Int) -> Int? {
      isLittle ? tiff.littleEndian16(at: offset) : tiff.bigEndian16(at: offset)
    }
    func long(_ offset: Int) -> Int? {
      isLittle ? tiff.littleEndian32(at: offset) : tiff.bigEndian32(at: offset)
    }
    guard short(2) == 42, let directory = long(4), let count = short(directory) else { return }
    for index in 0..<min(count, Self.entryLimit) {
      let entry = directory + 2 + 12 * index
      guard short(entry) == Self.tag else { continue }
      guard short(entry + 2) == Self.shortType, long(entry + 4) == 1,
        let value = short(entry + 8), let orientation = Self(rawValue: UInt32(value))
      else { return }
      self = orientation
      return
    }
  }
}
