import TableStore

extension [UInt8] {
  /// Appends the number's bytes, the lowest first.
  mutating func put(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}

extension UnsafeRawBufferPointer {
  func small(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  func large(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  func hasSameBytes(as other: [UInt8]) -> Bool {
    other.withUnsafeBytes { SystemMemory.areEqual(self, $0) }
  }

  /// A part of the bytes that is known to lie within them.
  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[range])
  }
}
