import Foundation

/// The bytes inside a `data:` URL, as WHATWG's Fetch standard reads them, section 6.
///
/// The media type is ignored: images are recognised by their bytes.
enum DataURL {
  /// - Parameter limit: The most bytes that may come out; more are refused before they are decoded.
  static func bytes(of url: URL, limit: Int) throws(ImageSourceError) -> Data {
    // A fragment is no part of the data.
    let text = url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else {
      throw .invalidDataURL("no scheme.")
    }
    let rest = text[text.index(after: colon)...]
    guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else {
      throw .invalidDataURL("no comma before the data.")
    }
    // Foundation writes the spaces of a type as `%20`.
    let isBase64 = saysBase64(rest[..<comma].percentDecoded)
    let body = rest[rest.index(after: comma)...]
    // Three characters are a byte at least, and in base64 four of them three bytes at most.
    guard isBase64 || body.count / 3 <= limit else { throw .tooLarge(byteCountLimit: limit) }
    var bytes = body.percentDecoded
    // Foundation escapes the escapes of a text that has a space somewhere. Base64 has no percent sign.
    if isBase64, bytes.contains(UInt8(ascii: "%")) { bytes = bytes.percentDecoded }
    let content = isBase64 ? try base64(bytes, limit: limit) : Data(bytes)
    guard content.count <= limit else { throw .tooLarge(byteCountLimit: limit) }
    return content
  }

  /// Whether a media type ends with a semicolon, spaces and `base64`.
  private static func saysBase64(_ type: [UInt8]) -> Bool {
    let parts = type.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last?.drop(while: { $0 == UInt8(ascii: " ") }) else {
      return false
    }
    let (word, rest) = (last.prefix(6), last.dropFirst(6))
    return String(decoding: word, as: UTF8.self).lowercased() == "base64"
      && rest.allSatisfy(isWhitespace)
  }

  /// White space within base64 and missing padding are forgiven (WHATWG's Infra standard, section 8), and bits
  /// behind the last byte.
  private static func base64(_ text: [UInt8], limit: Int) throws(ImageSourceError) -> Data {
    var characters = text.filter { !isWhitespace($0) }
    let (triples, overflow) = (limit / 3 + 1).multipliedReportingOverflow(by: 4)
    guard overflow || characters.count <= triples else { throw .tooLarge(byteCountLimit: limit) }
    let equals = UInt8(ascii: "=")
    if characters.count % 4 == 0 {
      for _ in 0..<2 where characters.last == equals { characters.removeLast() }
    }
    // Foundation takes some texts of padding alone for a byte.
    let isPadded = characters.contains(equals)
    characters += repeatElement(equals, count: (4 - characters.count % 4) % 4)
    guard !isPadded, let bytes = Data(base64Encoded: Data(characters)) else {
      throw .invalidDataURL("the data is not base64.")
    }
    return bytes
  }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(byte)
  }
}
