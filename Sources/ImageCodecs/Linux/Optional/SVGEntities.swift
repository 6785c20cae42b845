#if SVG && !canImport(ImageIO)
  /// The short texts that the document type of an SVG file declares.
  struct SVGEntities {
    private static let lengthLimit = 200
    private static let predefined = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    private var values = Self.predefined

    /// Reads what follows `<!DOCTYPE`: its identifiers, in whose quotes anything may stand, and texts that are neither
    /// markup nor addresses.
    mutating func read(_ text: inout SVGText) throws(ImageDecodingError) {
      while !text.take("[") {
        if text.take(">") { return }
        if try text.quoted() == nil { try text.skip() }
      }
      text.skipSpace()
      while !text.take("]") {
        try declare(&text)
        text.skipSpace()
      }
      text.skipSpace()
      guard text.take(">") else { throw Self.refused }
    }

    private mutating func declare(_ text: inout SVGText) throws(ImageDecodingError) {
      guard text.take("<!ENTITY") else { throw Self.refused }
      text.skipSpace()
      let name = text.name()
      text.skipSpace()
      guard !name.isEmpty, let value = try text.quoted(), value.utf8.count <= Self.lengthLimit,
        !value.contains(where: { "<&%\u{7F}".contains($0) }),
        !["data:", "xinclude", "url("].contains(where: value.lowercased().contains),
        // Of two declarations of a name librsvg takes the other one.
        values.updateValue(value, forKey: name) == nil
      else { throw Self.refused }
      text.skipSpace()
      guard text.take(">") else { throw Self.refused }
    }

    /// The value with the texts in place of their names, and with numeric references as they are.
    func resolve(_ value: String) throws(ImageDecodingError) -> String {
      guard value.utf8.contains(UInt8(ascii: "&")) else { return value }
      var parts = value.split(separator: "&", omittingEmptySubsequences: false)[...]
      var result = String(parts.removeFirst())
      for part in parts {
        if part.hasPrefix("#") {
          result += "&" + part
        } else if let end = part.firstIndex(of: ";"), let text = values[String(part[..<end])] {
          result += text + part[part.index(after: end)...]
        } else {
          throw .unsupported("SVG: a name of a text that is not declared")
        }
      }
      return result
    }

    private static let refused = ImageDecodingError.unsupported(
      "SVG: a document type that declares more than short texts")
  }
#endif
