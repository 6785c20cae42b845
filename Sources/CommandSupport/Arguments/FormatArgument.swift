package import Pixels

/// One format of the command line, of the form ``FormatArgument/form``.
///
/// All words behind the size differ, so that each of them may be left out.
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
    "NAME:WxH[:PIXELS][:DRAWING][:QUALITY][:COLORS][:animated[=BYTES]]"

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
    var words = parts.dropFirst(2)
    /// Takes the first word if it is of one kind, unless it may stand there as one of a later kind.
    func take<Value>(
      _ value: (String) -> Value?, before isLater: (String) -> Bool, _ kind: String, _ rule: String
    ) throws(UsageError) -> Value? {
      guard let word = words.first else { return nil }
      if let value = value(word) {
        words = words.dropFirst()
        return value
      }
      if isLater(word) { return nil }
      throw UsageError(
        "The format \"\(text)\" has the \(kind) \"\(word)\"; \(rule).")
    }
    let layouts = "a drawing is one of \(Layout.allCases.map(\.rawValue).joined(separator: ", "))"
    let pixelFormat = try take(
      { PixelFormat(rawValue: $0) }, before: { Layout(rawValue: $0) != nil || Self.isLast($0) },
      "pixel format", PixelFormat.argumentRule)
    let layout = try take({ Layout(rawValue: $0) }, before: Self.isLast, "drawing", layouts)
    var (quality, colorSpace, animationByteLimit) = (Quality?.none, ColorSpace?.none, Int?.none)
    for part in words {
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
    self.pixelFormat = pixelFormat ?? .bgra32
    self.layout = layout ?? .aspectFill
    self.quality = quality ?? .balanced
    self.colorSpace = colorSpace ?? .sRGB
    self.animationByteLimit = animationByteLimit
  }

  /// Whether a word may stand behind the drawing.
  private static func isLast(_ word: String) -> Bool {
    Quality(rawValue: word) != nil || ColorSpace(rawValue: word) != nil
      || animationByteLimit(word) != nil
  }

  private static func animationByteLimit(_ part: String) -> Int? {
    let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.first == "animated" else { return nil }
    return words.count == 1 ? usualAnimationByteLimit : Int(byteCount: words[1])
  }
}
