package import Foundation
import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Reads a whole file into private memory, blocking its thread.
///
/// Not through a mapping: the file may belong to another program, and a file that is shortened while it
/// is mapped kills the process with SIGBUS.
package enum FileReader {
  private static let chunkByteCount = 256 << 10

  /// - Parameters:
  ///   - limit: The most bytes the file may have, checked before memory is taken.
  ///   - isCancelled: Asked between chunks.
  ///   - progress: Called after each chunk.
  /// - Throws: ``ImageSourceError``, and `CancellationError` once `isCancelled` answers `true`.
  package static func read(
    _ path: LocalPath, limit: Int = .max, isCancelled: () -> Bool = { false },
    progress: (ImageSourceProgress) -> Void = { _ in }
  ) throws -> Data {
    let file = try OpenFile(path)
    let path = path.text
    let before = try file.status()
    guard before.byteCount <= limit else {
      throw ImageSourceError.tooLarge(byteCountLimit: limit)
    }

    // One byte more than the file has: `read(2)` fills it only when the file has grown.
    let capacity = before.byteCount + 1
    // Large blocks begin 16 bytes into a page otherwise, and some processors then copy from the pages
    // of a file at a fifth of their speed.
    guard let memory = SystemMemory.allocate(byteCount: capacity, alignment: 64) else {
      throw ImageSourceError.unreadable(path: path, reason: reason(ENOMEM))
    }
    var isHandedOver = false
    defer { if !isHandedOver { free(memory) } }

    var count = 0
    while count < capacity {
      if isCancelled() { throw CancellationError() }
      let chunk = UnsafeMutableRawBufferPointer(
        start: memory + count, count: min(chunkByteCount, capacity - count))
      let readCount = try file.read(into: chunk)
      if readCount == 0 { break }
      count += readCount
      progress(
        ImageSourceProgress(receivedByteCount: count, expectedByteCount: before.byteCount))
    }

    // A writer that is not finished leaves an image that is half old, half new.
    guard count == before.byteCount, try file.status() == before else {
      throw ImageSourceError.unreadable(path: path, reason: "The file changed while it was read.")
    }
    isHandedOver = true
    return Data(bytesNoCopy: memory, count: count, deallocator: .free)
  }

  /// - Parameter count: The most bytes; fewer come of a shorter file.
  package static func firstBytes(of path: LocalPath, count: Int) throws -> Data {
    let file = try OpenFile(path)
    var bytes = [UInt8](repeating: 0, count: count)
    let part = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
    return Data(bytes.prefix(part))
  }

  fileprivate static func reason(_ code: CInt) -> String { String(cString: strerror(code)) }
}

/// A regular file, open for reading and closed with its owner.
///
/// Not by the `SystemCalls` of tables, which never follow a link and open names below a directory only.
private struct OpenFile: ~Copyable {
  struct Status: Equatable {
    let byteCount: Int
    let modificationSeconds: Int
    let modificationNanoseconds: Int
  }

  private let path: String
  private let descriptor: CInt

  /// - Throws: ``ImageSourceError/notFound(path:)`` and ``ImageSourceError/unreadable(path:reason:)``.
  init(_ path: LocalPath) throws(ImageSourceError) {
    guard !path.bytes.contains(0) else {
      throw .unreadable(path: path.text, reason: "The path contains a NUL character.")
    }
    let characters = path.characters
    // Without O_NONBLOCK, opening a FIFO that nobody writes to waits for ever; open(2).
    let descriptor = retryingInterrupted { open(characters, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { throw Self.openError(path.text, errno) }
    self.path = path.text
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func status() throws(ImageSourceError) -> Status {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw .unreadable(path: path, reason: FileReader.reason(errno))
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .unreadable(path: path, reason: FileReader.reason(EISDIR))
    default: throw .unreadable(path: path, reason: "Not a regular file.")
    }
    let modification = status.modificationTime
    return Status(
      byteCount: Int(status.st_size), modificationSeconds: modification.tv_sec,
      modificationNanoseconds: modification.tv_nsec)
  }

  func read(into chunk: UnsafeMutableRawBufferPointer) throws(ImageSourceError) -> Int {
    let count = retryingInterrupted { systemRead(descriptor, chunk.baseAddress, chunk.count) }
    guard count >= 0 else { throw .unreadable(path: path, reason: FileReader.reason(errno)) }
    return count
  }

  private static func openError(_ path: String, _ code: CInt) -> ImageSourceError {
    switch code {
    case ENOENT, ENOTDIR: .notFound(path: path)
    default: .unreadable(path: path, reason: FileReader.reason(code))
    }
  }
}

/// Calls again as long as a signal ended the call early.
private func retryingInterrupted<Result: BinaryInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}

#if canImport(Darwin)
  private let systemRead = Darwin.read
  extension stat {
    fileprivate var modificationTime: timespec { st_mtimespec }
  }
#else
  private let systemRead = Glibc.read
  extension stat {
    fileprivate var modificationTime: timespec { st_mtim }
  }
#endif
