import TableStore

/// The checksum of a body: a chain over its blocks, so that a download takes it along as it grows, and a read
/// compares each block while it is in the processor's cache.
package struct Checksum: Hashable, Sendable {
  /// The bytes of a block. After a kill a download lacks at most the block that was coming.
  package static let blockByteCount = 128 << 10

  package private(set) var value: UInt64

  package init(value: UInt64) { self.value = value }

  /// Adds the next block; only the last one may be shorter.
  package mutating func add(_ block: UnsafeRawBufferPointer) {
    value = LaneHash.hash(block, seed: value)
  }

  /// The checksum of bytes; it begins from the body's number, so that bytes under another's name fail.
  package static func of(_ bytes: UnsafeRawBufferPointer, body: UInt64) -> UInt64 {
    var checksum = Checksum(value: body)
    for start in stride(from: 0, to: bytes.count, by: blockByteCount) {
      checksum.add(UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(blockByteCount)))
    }
    return checksum.value
  }
}
