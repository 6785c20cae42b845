#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Zeroed memory for the length of one drawing, given back with its owner.
///
/// A raw pointer is safe here because the owner cannot be copied: code that reaches `bytes` holds
/// the owner. This is no array because the sizes follow from untrusted files: without memory the
/// drawing fails and the process lives.
struct ScratchMemory: ~Copyable {
  let bytes: UnsafeMutableRawPointer

  /// - Parameter byteCount: Positive.
  init(byteCount: Int) throws(DrawingError) {
    // Aligned for the widest vectors the loops use.
    guard let bytes = aligned_alloc(64, (byteCount + 63) & ~63) else {
      throw DrawingError.outOfMemory
    }
    memset(bytes, 0, byteCount)
    self.bytes = bytes
  }

  deinit { free(bytes) }
}
