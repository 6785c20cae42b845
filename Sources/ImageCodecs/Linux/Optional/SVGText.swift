#if SVG && !canImport(ImageIO)
  /// A place in the text of an SVG file.
  ///
  /// All strings of it are ASCII: a byte of another character becomes DEL, which is in no name, and each white space a
  /// space. So a `Character` is a byte, and no combining mark hides a quote.
  struct SVGText {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Moves behind a text that begins here.
    mutating func take(_ text: StaticString) -> Bool {
      let end = offset + text.utf8CodeUnitCount
      guard end <= bytes.count,
        bytes[offset..<end].elementsEqual(
          UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
      else { return false }
      offset = end
      return true
    }

    /// Moves behind the text's next place, and gives all before it.
    @discardableResult
    mutating func pass(_ text: StaticString) throws(ImageDecodingError) -> String {
      let start = offset
      while offset < bytes.count {
        let end = offset
        if take(text) { return string(start..<end) }
        offset += 1
      }
      throw .truncated
    }

    /// Moves behind the next `<`, and gives the characters before it, or `nil` at the end of the file.
    mutating func content() -> String? {
      let content = run { $0 != UInt8(ascii: "<") }
      return take("<") ? content : nil
    }

    mutating func skipSpace() {
      while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
      byte == 32 || byte == 10 || byte == 13 || byte == 9
    }

    /// A name with its prefix, empty where none begins.
    mutating func name() -> String {
      run {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "."), UInt8(ascii: ":"):
          true
        default: false
        }
      }
    }

    /// A value in quotes, without them, or `nil` where none begins.
    mutating func quoted() throws(ImageDecodingError) -> String? {
      if take("\"") { return try pass("\"") }
      if take("'") { return try pass("'") }
      return nil
    }

    /// Moves over one byte.
    mutating func skip() throws(ImageDecodingError) {
      guard offset < bytes.count else { throw .truncated }
      offset += 1
    }

    private mutating func run(while holds: (UInt8) -> Bool) -> String {
      let start = offset
      while offset < bytes.count, holds(bytes[offset]) { offset += 1 }
      return string(start..<offset)
    }

    private func string(_ range: Range<Int>) -> String {
      String(unsafeUninitializedCapacity: range.count) { text in
        for (index, byte) in bytes[range].enumerated() {
          text[index] = byte > 127 ? 127 : Self.isSpace(byte) ? 32 : byte
        }
        return range.count
      }
    }
  }
#endif
