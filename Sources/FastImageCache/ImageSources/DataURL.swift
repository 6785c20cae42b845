import Foundation

/// The bytes inside a `data:` URL, as RFC 2397 writes them.
///
/// The media type is ignored: pictures are recognised by their bytes. White space within base64 and
/// missing padding are forgiven, as browsers do, because generators of such URLs rely on it.
enum DataURL {
  /// - Parameter limit: The most bytes that may come out; more are refused before they are decoded.
  static func bytes(of url: URL, limit: Int) throws(ImageSourceError) -> Data {
    let text = url.absoluteString.utf8
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else {
      throw .invalidDataURL("no scheme.")
    }
    let rest = text[text.index(after: colon)...]
    guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else {
      throw .invalidDataURL("no comma before the data.")
    }
    let header = String(decoding: rest[..<comma], as: UTF8.self)
    // A fragment is no part of the data, RFC 3986 section 3.5.
    let data = rest[rest.index(after: comma)...].prefix { $0 != UInt8(ascii: "#") }

    let lastParameter = header.split(separator: ";", omittingEmptySubsequences: false).last
    guard header.contains(";"), lastParameter?.lowercased() == "base64" else {
      return try Data(unescaping(data, limit: limit))
    }
    return try base64(data, limit: limit)
  }

  private static func base64(
    _ data: some Collection<UInt8>, limit: Int
  ) throws(ImageSourceError) -> Data {
    // Three bytes take four characters, without the escapes and white space that are removed here. So
    // a text above the limit is refused before it is decoded.
    let (triples, overflow) = (limit / 3 + 1).multipliedReportingOverflow(by: 4)
    var characters = try unescaping(data, limit: .max)
    characters.removeAll { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains($0) }
    guard overflow || characters.count <= triples else { throw .tooLarge(byteCountLimit: limit) }
    let padding = (4 - characters.count % 4) % 4
    characters.append(contentsOf: repeatElement(UInt8(ascii: "="), count: padding))
    guard let bytes = Data(base64Encoded: Data(characters)) else {
      throw .invalidDataURL("the data is not base64.")
    }
    guard bytes.count <= limit else { throw .tooLarge(byteCountLimit: limit) }
    return bytes
  }

  /// Turns `%41` into `A`.
  private static func unescaping(
    _ text: some Collection<UInt8>, limit: Int
  ) throws(ImageSourceError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(text.count, limit))
    var rest = text.makeIterator()
    while let character = rest.next() {
      guard bytes.count < limit else { throw .tooLarge(byteCountLimit: limit) }
      guard character == UInt8(ascii: "%") else {
        bytes.append(character)
        continue
      }
      guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else {
        throw .invalidDataURL("a percent sign without two hexadecimal digits.")
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func hexDigit(_ character: UInt8) -> UInt8? {
    Character(UnicodeScalar(character)).hexDigitValue.flatMap(UInt8.init(exactly:))
  }
}
