package import Pixels

/// The number in a table's header that tells how its images are drawn, beside their size.
///
/// The low byte is the pixel format. Bit 8 is set where images keep their own proportions, bit 10 where
/// they are drawn with the best quality, bit 11 where all frames of animations are kept. Bits 16 to 23 are the colour
/// space: zero for sRGB. A cache must not take a table of one kind for one of the other.
package struct ImageCode: Hashable, Sendable {
  package let pixelFormat: PixelFormat
  package let keepsProportions: Bool
  package let quality: ImageFormat.Quality
  package let colorSpace: ColorSpace
  package let hasAnimations: Bool

  private static let proportions: UInt32 = 1 << 8
  private static let best: UInt32 = 1 << 10
  private static let animations: UInt32 = 1 << 11
  private static let displayP3: UInt32 = 1 << 16

  package init(_ format: ImageFormat) {
    pixelFormat = format.pixelFormat
    keepsProportions = format.keepsProportions
    quality = format.quality
    colorSpace = format.colorSpace
    hasAnimations = format.hasAnimations
  }

  /// `nil` for a number that no version of this library writes.
  package init?(rawValue: UInt32) {
    let pixelFormat = PixelFormat.allCases.first { $0.code == rawValue & 0xFF }
    let known = 0xFF | Self.proportions | Self.best | Self.animations | Self.displayP3
    guard rawValue & ~known == 0, let pixelFormat
    else { return nil }
    self.pixelFormat = pixelFormat
    keepsProportions = rawValue & Self.proportions != 0
    quality = rawValue & Self.best != 0 ? .best : .balanced
    colorSpace = Self.colorSpace(of: rawValue)
    hasAnimations = Self.hasAnimations(rawValue)
  }

  package var rawValue: UInt32 {
    pixelFormat.code | (keepsProportions ? Self.proportions : 0)
      | (quality == .best ? Self.best : 0) | (colorSpace == .displayP3 ? Self.displayP3 : 0)
      | (hasAnimations ? Self.animations : 0)
  }

  /// The colour space of a table with this number.
  static func colorSpace(of rawValue: UInt32) -> ColorSpace {
    rawValue & displayP3 == 0 ? .sRGB : .displayP3
  }

  /// Whether a table with this number keeps all frames of animations.
  static func hasAnimations(_ rawValue: UInt32) -> Bool { rawValue & animations != 0 }
}

extension PixelFormat {
  /// Part of the file format: the values of the original library's styles.
  fileprivate var code: UInt32 {
    switch self {
    case .bgra32: 0
    case .bgrx32: 1
    case .bgr16: 2
    case .gray8: 3
    }
  }
}
