/// Reads numbers from untrusted bytes: past the end they are `nil`, never a trap and never the
/// memory behind.
extension RawSpan {
  func byte(at offset: Int) -> UInt8? {
    guard offset >= 0, offset < byteCount else { return nil }
    return unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  func bigEndian16(at offset: Int) -> Int? {
    guard let high = byte(at: offset), let low = byte(at: offset + 1) else { return nil }
    return Int(high) << 8 | Int(low)
  }

  func bigEndian32(at offset: Int) -> Int? {
    guard let high = bigEndian16(at: offset), let low = bigEndian16(at: offset + 2) else {
      return nil
    }
    return high << 16 | low
  }

  func littleEndian16(at offset: Int) -> Int? {
    bigEndian16(at: offset).map { $0 >> 8 | ($0 & 0xFF) << 8 }
  }

  func littleEndian24(at offset: Int) -> Int? {
    guard let low = littleEndian16(at: offset), let high = byte(at: offset + 2) else { return nil }
    return Int(high) << 16 | low
  }

  func littleEndian32(at offset: Int) -> Int? {
    guard let low = littleEndian16(at: offset), let high = littleEndian16(at: offset + 2) else {
      return nil
    }
    return high << 16 | low
  }

  func has(_ text: StaticString, at offset: Int) -> Bool {
    // No closure: each would be an allocation in builds without optimisation, and a file may have
    // millions of chunks to compare.
    var index = 0
    while index < text.utf8CodeUnitCount {
      guard byte(at: offset + index) == text.utf8Start[index] else { return false }
      index += 1
    }
    return true
  }
}
