package import Pixels

/// One format of the command line, of the form ``FormatArgument/form``.
///
/// The words behind the drawing differ, so that each may stand first or alone.
package struct FormatArgument: Hashable, Sendable {
  /// How images are laid into the slots of a table.
  package enum Layout: String, CaseIterable, Hashable, Sendable {
    case aspectFill, aspectFit, within, stretch, circle
  }

  /// How many of a source's pixels images are drawn from.
  package enum Quality: String, CaseIterable, Hashable, Sendable {
    case balanced, best
  }

  package static let form =
    "NAME:WxH[:PIXELS[:DRAWING[:QUALITY][:COLORS][:animated[=BYTES]]]]"

  /// The bytes of slots that an animation may take where a format names none.
  package static let usualAnimationByteLimit = 16 << 20

  package let name: String
  package let size: PixelSize
  package let pixelFormat: PixelFormat
  package let layout: Layout
  package let quality: Quality
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
    guard let pixelFormat = parts.count > 2 ? PixelFormat(rawValue: parts[2]) : .bgra32 else {
      throw UsageError(
        "The format \"\(text)\" has the pixel format \"\(parts[2])\"; \(PixelFormat.argumentRule).")
    }
    guard let layout = parts.count > 3 ? Layout(rawValue: parts[3]) : .aspectFill else {
      let names = Layout.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError(
        "The format \"\(text)\" has the drawing \"\(parts[3])\"; a drawing is one of \(names).")
    }
    var (quality, colorSpace, animationByteLimit) = (Quality?.none, ColorSpace?.none, Int?.none)
    for part in parts.dropFirst(4) {
      if quality == nil, let named = Quality(rawValue: part) {
        quality = named
      } else if colorSpace == nil, let named = ColorSpace(rawValue: part) {
        colorSpace = named
      } else if animationByteLimit == nil, let limit = Self.animationByteLimit(part) {
        animationByteLimit = limit
      } else {
        let qualities = Quality.allCases.map(\.rawValue).joined(separator: " or ")
        let spaces = ColorSpace.allCases.map(\.rawValue).joined(separator: " or ")
        throw UsageError(
          "The format \"\(text)\" has \"\(part)\" after its drawing; one quality, \(qualities), "
            + "one colour space, \(spaces), and animated, or animated=64M for animations of that "
            + "many bytes, may stand there.")
      }
    }
    name = parts[0]
    self.size = size
    self.pixelFormat = pixelFormat
    self.layout = layout
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
