extension UnsafeRawBufferPointer {
  /// The little-endian number at an offset.
  @inline(__always)
  func number<Number: FixedWidthInteger>(at offset: Int, as _: Number.Type) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}

extension [UInt8] {
  /// Appends the bytes of a little-endian number.
  mutating func put(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
