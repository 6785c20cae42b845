package import Foundation

/// The checksum of a PNG chunk's name and content; PNG, third edition, annex D.
enum PNGChecksum {
  private static let ofByte: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(byte) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
  }

  /// - Parameter content: The content's place among all bytes; name and checksum stand around it.
  static func isRight(_ content: Range<Int>, _ bytes: RawSpan) -> Bool {
    guard content.lowerBound >= 4, content.upperBound <= bytes.byteCount else { return false }
    let sum = sum(of: bytes.extracting(content.lowerBound - 4..<content.upperBound))
    return bytes.bigEndian32(at: content.upperBound) == Int(sum)
  }

  /// - Parameter bytes: Name and content.
  fileprivate static func sum(of bytes: RawSpan) -> UInt32 {
    let table = ofByte
    var sum = ~UInt32(0)
    for index in 0..<bytes.byteCount {
      let byte = bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8)
    }
    return ~sum
  }
}

extension Data {
  /// Appends a PNG chunk: length, name, content and checksum.
  package mutating func appendPNGChunk(_ name: String, _ content: some Collection<UInt8>) {
    append(bigEndian: UInt32(content.count))
    let start = count
    append(contentsOf: name.utf8)
    append(contentsOf: content)
    let sum = withUnsafeBytes { PNGChecksum.sum(of: $0.bytes.extracting(start..<$0.count)) }
    append(bigEndian: sum)
  }

  private mutating func append(bigEndian number: UInt32) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}
