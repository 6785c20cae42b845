/// The checksums at the ends of a PNG's chunks.
enum PNGChecksums {
  /// Makes those right that lie within the bytes.
  static func repair(_ bytes: UnsafeMutableBufferPointer<UInt8>) {
    func number(at offset: Int) -> Int {
      bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
    var offset = 8
    while offset + 12 <= bytes.count {
      let end = offset + 8 + number(at: offset)
      guard end + 4 <= bytes.count else { return }
      let checksum = checksum(of: bytes[(offset + 4)..<end])
      for index in 0..<4 { bytes[end + index] = UInt8(checksum >> (24 - 8 * index) & 0xFF) }
      offset = end + 4
    }
  }

  /// PNG 1.2, annex D.
  private static func checksum(of bytes: Slice<UnsafeMutableBufferPointer<UInt8>>) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in
        sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1
      }
    }
  }
}
