/// The checksum of a PNG chunk's name and content; PNG, third edition, annex D.
package enum PNGChecksum {
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
  package static func sum(of bytes: RawSpan) -> UInt32 {
    let table = ofByte
    var sum = ~UInt32(0)
    for index in 0..<bytes.byteCount {
      let byte = bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8)
    }
    return ~sum
  }
}
