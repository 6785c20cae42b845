#if SVG && !canImport(ImageIO)
  /// The check of CSS in an SVG file: of attributes, of `style` attributes and of `style` elements.
  ///
  /// It reads no strings and no escapes: what begins one outside of declarations is refused, and every word of the
  /// text is looked at.
  struct SVGStyle {
    /// Properties that draw apart by reference, or cost more than the path has bytes.
    static let refusedProperties: Set<String> = [
      "mask", "marker", "marker-start", "marker-mid", "marker-end", "filter", "stroke-dasharray",
    ]

    private(set) var clipCount = 0
    private(set) var selectorCount = 0

    /// - Parameter hasRules: whether the text has selectors, and not the declarations alone.
    init(_ text: String, hasRules: Bool) throws(ImageDecodingError) {
      let bytes = Array(text.lowercased().utf8)
      guard
        !bytes.contains(where: {
          [UInt8(ascii: "\\"), UInt8(ascii: "@"), UInt8(ascii: "&")].contains($0)
        })
      else { throw Self.refused("a style with escapes or rules of \"@\"") }
      try Self.checkAddresses(bytes)
      var isInRule = !hasRules
      var index = 0
      while index < bytes.count {
        let start = index
        while index < bytes.count, Self.isWordByte(bytes[index]) { index += 1 }
        guard index == start else {
          let word = String(decoding: bytes[start..<index], as: UTF8.self)
          if word == "clip-path" { clipCount += 1 }
          // ".mask" and "#mask" are selectors.
          let isSelector =
            start > 0 && [UInt8(ascii: "."), UInt8(ascii: "#")].contains(bytes[start - 1])
          if Self.refusedProperties.contains(word), !isSelector, !Self.isNone(bytes[index...]) {
            throw Self.refused("a style with \"\(word)\"")
          }
          continue
        }
        switch bytes[index] {
        case UInt8(ascii: "{") where hasRules && !isInRule:
          isInRule = true
          selectorCount += 1
        case UInt8(ascii: "}") where hasRules && isInRule: isInRule = false
        case UInt8(ascii: "{"), UInt8(ascii: "}"): throw Self.refused("a style with odd braces")
        case UInt8(ascii: ",") where !isInRule: selectorCount += 1
        // A comment may have braces.
        case UInt8(ascii: "/") where hasRules && bytes[index...].starts(with: "/*".utf8):
          throw Self.refused("a style with comments")
        // Selectors of siblings and of places cost by the square.
        case let byte where !isInRule && !".#*> ".utf8.contains(byte):
          throw Self.refused("a selector with more than names")
        default: break
        }
        index += 1
      }
    }

    /// Refuses addresses of other files, and of data, which librsvg follows always.
    static func checkAddresses(_ bytes: [UInt8]) throws(ImageDecodingError) {
      let start = Array("url(".utf8)
      var index = 0
      while let found = bytes[index...].firstIndex(of: start[0]) {
        index = found + 1
        guard bytes[found...].starts(with: start) else { continue }
        let address = bytes[(found + start.count)...].drop { " \"'".utf8.contains($0) }
          .prefix { $0 != UInt8(ascii: ")") }
        guard address.first == UInt8(ascii: "#"), !address.dropFirst().contains(UInt8(ascii: "#"))
        else {
          throw refused("an address outside of the file")
        }
      }
    }

    private static func isNone(_ rest: ArraySlice<UInt8>) -> Bool {
      func skip(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> { bytes.drop { $0 == 32 } }
      let none = Array("none".utf8)
      var rest = skip(rest)
      guard rest.first == UInt8(ascii: ":") else { return false }
      rest = skip(rest.dropFirst())
      guard rest.starts(with: none) else { return false }
      let end = skip(rest.dropFirst(none.count)).first
      return end == nil || ";}!".utf8.contains(end ?? 0)
    }

    /// DEL stands for a character that is not ASCII, which may be in a word.
    private static func isWordByte(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"),
        UInt8(ascii: "_"), 127:
        true
      default: false
      }
    }

    private static func refused(_ what: String) -> ImageDecodingError {
      .unsupported("SVG: \(what)")
    }
  }
#endif
