import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file that is read or written in equal pieces: the cost of the system calls alone.
final class BenchFile {
  private let descriptor: CInt
  private let pieceByteCount: Int
  private let start: Int

  /// - Parameters:
  ///   - start: Where the first piece begins, in bytes.
  ///   - pieceByteCount: Of each piece; they follow one another.
  init(_ url: URL, start: Int = 0, pieceByteCount: Int) throws {
    descriptor = open(url.path(percentEncoded: false), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    self.start = start
    self.pieceByteCount = pieceByteCount
    guard descriptor >= 0 else {
      throw BenchFailure(description: "\"\(url.path)\" cannot be opened: \(errno).")
    }
  }

  deinit { close(descriptor) }

  func read(_ piece: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
    let count = pread(descriptor, buffer.baseAddress, pieceByteCount, offset(piece))
    guard count == pieceByteCount else {
      throw BenchFailure(description: "A read of \(pieceByteCount) bytes gave \(count).")
    }
  }

  func write(_ piece: Int, from buffer: UnsafeRawBufferPointer) throws {
    let count = pwrite(descriptor, buffer.baseAddress, pieceByteCount, offset(piece))
    guard count == pieceByteCount else {
      throw BenchFailure(description: "A write of \(pieceByteCount) bytes took \(count).")
    }
  }

  private func offset(_ piece: Int) -> off_t { off_t(start + piece * pieceByteCount) }
}
