#if SVG && !canImport(ImageIO)
  import Foundation

  /// What an SVG file would have a library do, told by its tags before the library reads it.
  ///
  /// It is no parser of XML: it knows where tags, comments and data end, and refuses what could hide others.
  struct SVGMarkup {
    /// Elements that hold pictures, or whose cost no size bounds.
    private static let refusedElements: Set<String> = ["image", "filter", "pattern"]
    private static let encodings: Set<String> = ["utf-8", "us-ascii", "iso-8859-1", "windows-1252"]
    private static let elementLimit = 20_000
    private static let depthLimit = 48
    private static let useLimit = 256
    private static let entityLimit = 200

    /// Elements within each other, at most.
    private(set) var depth = 0
    /// Elements that draw others once more.
    private(set) var useCount = 0
    private var elementCount = 0
    private var openCount = 0

    /// - Throws: ``ImageDecodingError/unsupported(_:)`` and ``ImageDecodingError/tooLarge(_:)`` for what is refused,
    ///   ``ImageDecodingError/truncated`` where a tag does not end.
    init(_ bytes: UnsafeRawBufferPointer) throws(ImageDecodingError) {
      guard !bytes.contains(0) else { throw Self.refused("text that is not UTF-8") }
      var text = Cursor(bytes)
      while text.skip(to: "<") {
        if text.take("!--") {
          try text.pass("-->")
        } else if text.take("![CDATA[") {
          try text.pass("]]>")
        } else if text.take("?") {
          let content = try text.pass("?>")
          if content.hasPrefix("xml") { try Self.check(declaration: content) }
        } else if text.take("!DOCTYPE") {
          try Self.check(&text)
        } else if text.take("/") {
          try text.pass(">")
          openCount -= 1
        } else {
          try open(try text.tag())
        }
      }
      guard elementCount > 0 else { throw .damaged("SVG: a file without an element") }
    }

    private static func refused(_ what: String) -> ImageDecodingError {
      .unsupported("SVG: \(what)")
    }

    private mutating func open(_ tag: String) throws(ImageDecodingError) {
      let name = tag.prefix { !$0.isWhitespace && $0 != "/" }
      let local = String(name.split(separator: ":").last ?? "")
      guard !Self.refusedElements.contains(local) else {
        throw Self.refused("an element \"\(local)\"")
      }
      if local == "use" { useCount += 1 }
      elementCount += 1
      if !tag.hasSuffix("/") { openCount += 1 }
      depth = max(depth, openCount)
      guard depth <= Self.depthLimit, useCount <= Self.useLimit, elementCount <= Self.elementLimit
      else {
        throw .tooLarge(
          "SVG: more than \(Self.elementLimit) elements, \(Self.depthLimit) within each other or "
            + "\(Self.useLimit) elements \"use\".")
      }
    }

    /// Another encoding could hide tags.
    private static func check(declaration: String) throws(ImageDecodingError) {
      guard let match = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/) else {
        return
      }
      guard encodings.contains(match.1.lowercased()) else {
        throw refused("text in \"\(match.1)\"")
      }
    }

    /// A document type may declare short texts, and nothing that is markup or stands in another file.
    private static func check(_ text: inout Cursor) throws(ImageDecodingError) {
      let head = try text.pass(either: "[", or: ">")
      guard head.last == "[" else { return }
      let subset = try text.pass("]")
      try text.pass(">")
      var rest = Substring(subset.dropLast())
      while let first = rest.first {
        if first.isWhitespace {
          rest = rest.dropFirst()
        } else if let match = rest.prefixMatch(
          of: /<!ENTITY\s+[A-Za-z_][\w.\-]*\s+("[^"<&%]*"|'[^'<&%]*')\s*>/),
          match.1.utf8.count <= entityLimit
        {
          rest = rest[match.range.upperBound...]
        } else {
          throw refused("a document type that declares more than short texts")
        }
      }
    }

    /// A place in the text.
    private struct Cursor {
      private let bytes: UnsafeRawBufferPointer
      private var offset = 0

      init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

      /// Moves behind the next such character.
      mutating func skip(to character: Unicode.Scalar) -> Bool {
        while offset < bytes.count {
          offset += 1
          if bytes[offset - 1] == UInt8(ascii: character) { return true }
        }
        return false
      }

      /// Moves behind a text that begins here.
      mutating func take(_ text: StaticString) -> Bool {
        guard starts(with: text) else { return false }
        offset += text.utf8CodeUnitCount
        return true
      }

      private func starts(with text: StaticString) -> Bool {
        let end = offset + text.utf8CodeUnitCount
        return end <= bytes.count
          && bytes[offset..<end].elementsEqual(
            UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
      }

      /// Moves behind the text's next place, and gives all before its end.
      @discardableResult
      mutating func pass(_ text: StaticString) throws(ImageDecodingError) -> String {
        try pass(either: text, or: text)
      }

      mutating func pass(
        either first: StaticString, or second: StaticString
      ) throws(ImageDecodingError) -> String {
        let start = offset
        while offset < bytes.count {
          if take(first) || take(second) {
            return String(decoding: bytes[start..<offset], as: UTF8.self)
          }
          offset += 1
        }
        throw .truncated
      }

      /// Moves behind a tag, whose values may have its end in them, and gives it without that.
      mutating func tag() throws(ImageDecodingError) -> String {
        let start = offset
        var quote: UInt8?
        while offset < bytes.count {
          let byte = bytes[offset]
          offset += 1
          if let open = quote {
            if byte == open { quote = nil }
          } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            quote = byte
          } else if byte == UInt8(ascii: ">") {
            return String(decoding: bytes[start..<offset - 1], as: UTF8.self)
          }
        }
        throw .truncated
      }
    }
  }
#endif
