/// The UTF-8 of an id, shared by all copies of the id.
///
/// A buffer and not a `String`, so that the index compares bytes in place: passing a string costs a
/// retain and a release, which is more than the comparison.
///
/// `@unchecked Sendable` is safe: the bytes are written once, before the buffer is shared.
struct IDBytes: @unchecked Sendable {
  /// The byte count, and the bytes.
  typealias Buffer = ManagedBuffer<Int, UInt8>

  let buffer: Buffer

  init(copying utf8: UnsafeBufferPointer<UInt8>) {
    buffer = Buffer.create(minimumCapacity: utf8.count) { _ in utf8.count }
    guard let source = utf8.baseAddress else { return }
    buffer.withUnsafeMutablePointerToElements { $0.initialize(from: source, count: utf8.count) }
  }

  init(_ buffer: Buffer) { self.buffer = buffer }

  /// The address of the bytes; valid while the buffer lives.
  @inline(__always)
  var span: IDSpan {
    buffer.withUnsafeMutablePointers { count, elements in
      IDSpan(base: UnsafeRawPointer(elements), count: count.pointee)
    }
  }
}

/// The address of an id's bytes, which another owner retains.
struct IDSpan {
  var base: UnsafeRawPointer?
  var count: Int

  @inline(__always)
  func hasSameBytes(as other: IDSpan) -> Bool {
    if base == other.base { return count == other.count }
    guard let mine = base, let yours = other.base else { return false }
    return count == other.count && SystemMemory.areEqual(mine, yours, byteCount: count)
  }
}
