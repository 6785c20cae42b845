package import FastImageCache
package import Pixels

/// One format of the command line, of the form ``FormatArgument/form``.
///
/// All words behind the size differ, so that each of them may be left out, and they may stand in any order.
package struct FormatArgument: Hashable, Sendable {
  /// How images are laid into the slots of a table.
  package enum Layout: String, CaseIterable, Hashable, Sendable {
    case aspectFill, aspectFit, within, stretch, circle
  }

  package static let form =
    "NAME:WxH[:PIXELS][:DRAWING][:QUALITY][:COLORS][:animated[=BYTES]]"

  /// The bytes of slots that an animation may take where a format names none.
  package static let usualAnimationByteLimit = 16 << 20

  package let name: String
  package let size: PixelSize
  package let pixelFormat: PixelFormat
  package let layout: Layout
  package let quality: ImageFormat.Quality
  package let colorSpace: ColorSpace
  /// `nil` where the first frame is the image.
  package let animationByteLimit: Int?

  /// - Throws: ``UsageError`` that names the part which cannot be read.
  package init(_ text: String) throws(UsageError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (2...7).contains(parts.count) else {
      throw UsageError(
        "The format \"\(text)\" is not of the form \(Self.form).")
    }
    guard (1...255).contains(parts[0].utf8.count) else {
      throw UsageError("The format \"\(text)\" needs a name of 1 to 255 bytes.")
    }
    guard let size = PixelSize(argument: parts[1]) else {
      throw UsageError(
        "The format \"\(text)\" has the size \"\(parts[1])\"; \(PixelSize.argumentRule).")
    }
    var (pixelFormat, layout) = (PixelFormat?.none, Layout?.none)
    var (quality, colorSpace) = (ImageFormat.Quality?.none, ColorSpace?.none)
    var animationByteLimit: Int?
    for part in parts.dropFirst(2) {
      if pixelFormat == nil, let named = PixelFormat(rawValue: part) {
        pixelFormat = named
      } else if layout == nil, let named = Layout(rawValue: part) {
        layout = named
      } else if quality == nil, let named = ImageFormat.Quality(rawValue: part) {
        quality = named
      } else if colorSpace == nil, let named = ColorSpace(rawValue: part) {
        colorSpace = named
      } else if animationByteLimit == nil, let limit = Self.animationByteLimit(part) {
        animationByteLimit = limit
      } else {
        let pixels = PixelFormat.allCases.map(\.rawValue).joined(separator: ", ")
        let layouts = Layout.allCases.map(\.rawValue).joined(separator: ", ")
        let spaces = ColorSpace.allCases.map(\.rawValue).joined(separator: " or ")
        throw UsageError(
          "The format \"\(text)\" has \"\(part)\" after its size, where may stand, once each: a pixel "
            + "format (\(pixels)), a drawing (\(layouts)), a quality (balanced or best), "
            + "a colour space (\(spaces)), and animated, or animated=64M for animations of that many bytes."
        )
      }
    }
    name = parts[0]
    self.size = size
    self.pixelFormat = pixelFormat ?? .bgra32
    self.layout = layout ?? .aspectFill
    self.quality = quality ?? .balanced
    self.colorSpace = colorSpace ?? .sRGB
    self.animationByteLimit = animationByteLimit
  }

  private static func animationByteLimit(_ part: String) -> Int? {
    let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.first == "animated" else { return nil }
    return words.count == 1 ? usualAnimationByteLimit : Int(byteCount: words[1])
  }
}
