import TableStore

/// The checksum of a body: a chain over its blocks, so that a download takes it along as it grows, and a read
/// compares each block while it is in the processor's cache.
package enum Checksum {
  /// The bytes of a block. After a kill a download lacks at most the block that was coming.
  package static let blockByteCount = 128 << 10

  /// The checksum so far, with the next block; only the last one may be shorter.
  package static func adding(_ block: UnsafeRawBufferPointer, to checksum: UInt64) -> UInt64 {
    LaneHash.hash(block, seed: checksum)
  }

  /// The checksum of bytes; it begins from the body's number, so that bytes under another's name fail.
  package static func of(_ bytes: UnsafeRawBufferPointer, body: UInt64) -> UInt64 {
    stride(from: 0, to: bytes.count, by: blockByteCount).reduce(body) { checksum, start in
      adding(UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(blockByteCount)), to: checksum)
    }
  }
}
