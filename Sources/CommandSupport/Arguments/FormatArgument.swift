package import Pixels

/// One `NAME:WxH[:PIXELS[:DRAWING[:DECODING]]]` of the command line.
package struct FormatArgument: Hashable, Sendable {
  /// How pictures are laid into the slots of a table.
  package enum Layout: String, CaseIterable, Hashable, Sendable {
    case aspectFill, aspectFit, within, stretch, circle
  }

  /// How many of a source's pixels pictures are drawn from.
  package enum Decoding: String, CaseIterable, Hashable, Sendable {
    case balanced, finest
  }

  package let name: String
  package let size: PixelSize
  package let pixelFormat: PixelFormat
  package let layout: Layout
  package let decoding: Decoding

  /// - Throws: ``UsageError`` that names the part which cannot be read.
  package init(_ text: String) throws(UsageError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (2...5).contains(parts.count) else {
      throw UsageError(
        "The format \"\(text)\" is not of the form NAME:WxH[:PIXELS[:DRAWING[:DECODING]]].")
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
    guard let decoding = parts.count > 4 ? Decoding(rawValue: parts[4]) : .balanced else {
      let names = Decoding.allCases.map(\.rawValue).joined(separator: " or ")
      throw UsageError(
        "The format \"\(text)\" has the decoding \"\(parts[4])\"; a decoding is \(names).")
    }
    name = parts[0]
    self.size = size
    self.pixelFormat = pixelFormat
    self.layout = layout
    self.decoding = decoding
  }
}
