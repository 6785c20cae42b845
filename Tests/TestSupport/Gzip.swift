public import Foundation

/// Small compressed bodies that grow large: RFC 1951 and RFC 1952, written by hand.
public enum Gzip {
  /// `count` zero bytes in about one byte for each 160.
  public static func zeros(count: Int) -> Data {
    var bits = BitWriter()
    bits.append(0b011, count: 3)  // The last block, with the fixed codes.
    var rest = count
    if rest > 0 {
      bits.appendCode(0b0011_0000, count: 8)  // The byte 0.
      rest -= 1
    }
    while rest >= 258 {
      bits.appendCode(0b1100_0101, count: 8)  // Copy 258 bytes,
      bits.appendCode(0, count: 5)  // from one byte back.
      rest -= 258
    }
    for _ in 0..<rest { bits.appendCode(0b0011_0000, count: 8) }
    bits.appendCode(0, count: 7)  // The end of the block.

    let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
    return Data(header + bits.bytes + littleEndian(checksumOfZeros(count)))
      + Data(littleEndian(UInt32(truncatingIfNeeded: count)))
  }

  private static func checksumOfZeros(_ count: Int) -> UInt32 {
    var checksum = UInt32.max
    for _ in 0..<count {
      for _ in 0..<8 {
        checksum = checksum & 1 == 1 ? checksum >> 1 ^ 0xEDB8_8320 : checksum >> 1
      }
    }
    return ~checksum
  }

  private static func littleEndian(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private struct BitWriter {
    var bytes: [UInt8] = []
    private var usedBits = 8

    /// Least significant bit first, as deflate packs numbers.
    mutating func append(_ value: UInt32, count: Int) {
      for index in 0..<count {
        if usedBits == 8 {
          bytes.append(0)
          usedBits = 0
        }
        bytes[bytes.count - 1] |= UInt8(value >> index & 1) << usedBits
        usedBits += 1
      }
    }

    /// Most significant bit first, as deflate packs Huffman codes.
    mutating func appendCode(_ code: UInt32, count: Int) {
      for index in (0..<count).reversed() { append(code >> index & 1, count: 1) }
    }
  }
}
