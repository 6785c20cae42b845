import FastImageCache

/// The formats of the walk: a family of three kinds of pixels, and some on their own.
enum PlayFormats {
  static let row = ImageFormat(
    name: "row", family: "walk", size: .exact(PixelSize(width: 16, height: 16)),
    pixelFormat: .bgrx32, capacity: 256)
  static let large = ImageFormat(
    name: "large", family: "walk", size: .exact(PixelSize(width: 32, height: 32)), capacity: 256)
  static let gray = ImageFormat(
    name: "gray", family: "walk", size: .exact(PixelSize(width: 24, height: 24)),
    pixelFormat: .gray8, capacity: 256)
  static let best = ImageFormat(
    name: "best", size: .exact(PixelSize(width: 32, height: 32)), pixelFormat: .bgrx32,
    capacity: 256, quality: .best)
  static let fitting = ImageFormat(
    name: "fitting", size: .fitting(PixelSize(width: 40, height: 40)), pixelFormat: .bgr16,
    capacity: 256)
  /// Images of it are gone after an hour.
  static let brief = ImageFormat(
    name: "brief", size: .exact(PixelSize(width: 16, height: 16)), pixelFormat: .bgrx32,
    capacity: 256, lifetime: .seconds(3600), lifetimeStart: .store)
  /// Room for a few images only.
  static let tight = ImageFormat(
    name: "tight", size: .exact(PixelSize(width: 16, height: 16)), pixelFormat: .bgrx32,
    capacity: 6)
  static let moving = ImageFormat(
    name: "moving", size: .exact(PixelSize(width: 32, height: 32)), pixelFormat: .bgra32,
    capacity: 64, animation: .allFrames(byteLimit: 1 << 20))

  /// Formats of which an image may go at any time: others are stored, or another opening finds it too old.
  static let fleeting = [tight, brief]

  static let all = [row, large, gray, best, fitting, brief, tight, moving]
}
