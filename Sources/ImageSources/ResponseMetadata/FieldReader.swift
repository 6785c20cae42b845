/// Reads a header field's value byte by byte: RFC 9110 section 5.6.
///
/// A function that finds something else than it expects leaves the position where it was and returns
/// `nil` or `false`.
struct FieldReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ value: String) { bytes = Array(value.utf8) }

  var isAtEnd: Bool { position == bytes.count }

  private var next: UInt8? { isAtEnd ? nil : bytes[position] }

  mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  /// Takes a literal, in ASCII, whatever the case of its letters.
  mutating func take(_ literal: String) -> Bool {
    let wanted = literal.utf8
    guard bytes.count - position >= wanted.count,
      zip(bytes[position...], wanted).allSatisfy({ $0.lowercased == $1.lowercased })
    else { return false }
    position += wanted.count
    return true
  }

  mutating func skipSpace() {
    while take(UInt8(ascii: " ")) || take(UInt8(ascii: "\t")) {}
  }

  /// Takes the longest run of bytes that satisfy a condition; `nil` where there is none.
  mutating func run(_ belongs: (UInt8) -> Bool) -> String? {
    let part = bytes[position...].prefix(while: belongs)
    guard !part.isEmpty else { return nil }
    position += part.count
    return String(decoding: part, as: UTF8.self)
  }

  /// Takes a token (section 5.6.2), in lower case.
  mutating func token() -> String? { run(\.isTokenCharacter)?.lowercased() }

  /// Takes a quoted string (section 5.6.4) and returns what it means.
  mutating func quotedString() -> String? {
    let start = position
    guard take(UInt8(ascii: "\"")) else { return nil }
    var content: [UInt8] = []
    while let byte = next {
      position += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\"), let escaped = next else {
        content.append(byte)
        continue
      }
      content.append(escaped)
      position += 1
    }
    position = start
    return nil
  }

  /// Takes exactly so many digits.
  mutating func number(digits count: Int) -> Int? {
    let part = bytes[position...].prefix(count)
    guard part.count == count, part.allSatisfy(\.isDigit) else { return nil }
    position += count
    return part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// Takes a run of digits.
  ///
  /// - Parameter largest: Stands for all larger numbers.
  mutating func number(atMost largest: Int) -> Int? {
    run(\.isDigit).map { min(Int($0) ?? largest, largest) }
  }

  /// Takes a number that can be counted with: less than `Int.max`.
  mutating func length() -> Int? {
    let start = position
    guard let text = run(\.isDigit) else { return nil }
    guard let number = Int(text), number < .max else {
      position = start
      return nil
    }
    return number
  }

  /// Moves behind the next comma or semicolon, which some servers write instead, or to the end.
  ///
  /// - Returns: Whether each quote on the way closes; an unclosed one hides all that follows.
  mutating func skipElement() -> Bool {
    while let byte = next, byte != UInt8(ascii: ","), byte != UInt8(ascii: ";") {
      // Neither ends an element in a quoted string.
      if byte == UInt8(ascii: "\"") {
        guard quotedString() != nil else {
          position = bytes.count
          return false
        }
      } else {
        position += 1
      }
    }
    if !isAtEnd { position += 1 }
    return true
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// RFC 9110 section 5.6.2.
  var isTokenCharacter: Bool {
    isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased)
      || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }

  fileprivate var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
