package import Pixels

/// One `NAME:WxH[:PIXELS[:DRAWING[:QUALITY][:COLORS]]]` of the command line.
///
/// The words of the last two differ, so that either may stand first or alone.
package struct FormatArgument: Hashable, Sendable {
  /// How images are laid into the slots of a table.
  package enum Layout: String, CaseIterable, Hashable, Sendable {
    case aspectFill, aspectFit, within, stretch, circle
  }

  /// How many of a source's pixels images are drawn from.
  package enum Quality: String, CaseIterable, Hashable, Sendable {
    case balanced, best
  }

  package let name: String
  package let size: PixelSize
  package let pixelFormat: PixelFormat
  package let layout: Layout
  package let quality: Quality
  package let colorSpace: ColorSpace

  /// - Throws: ``UsageError`` that names the part which cannot be read.
  package init(_ text: String) throws(UsageError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (2...6).contains(parts.count) else {
      throw UsageError(
        "The format \"\(text)\" is not of the form "
          + "NAME:WxH[:PIXELS[:DRAWING[:QUALITY][:COLORS]]].")
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
    var (quality, colorSpace) = (Quality?.none, ColorSpace?.none)
    for part in parts.dropFirst(4) {
      if quality == nil, let named = Quality(rawValue: part) {
        quality = named
      } else if colorSpace == nil, let named = ColorSpace(rawValue: part) {
        colorSpace = named
      } else {
        let qualities = Quality.allCases.map(\.rawValue).joined(separator: " or ")
        let spaces = ColorSpace.allCases.map(\.rawValue).joined(separator: " or ")
        throw UsageError(
          "The format \"\(text)\" has \"\(part)\" after its drawing; one quality, \(qualities), "
            + "and one colour space, \(spaces), may stand there.")
      }
    }
    name = parts[0]
    self.size = size
    self.pixelFormat = pixelFormat
    self.layout = layout
    self.quality = quality ?? .balanced
    self.colorSpace = colorSpace ?? .sRGB
  }
}
