package import Foundation
package import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The folder of the bodies, open for as long as this object lives. A body's file is called as its row and its
/// number, so that no name is used twice.
package final class BodyFolder: Sendable {
  package let path: String
  private let descriptor: Int32
  private let system: SystemCalls
  private let protection: FileProtection

  package init(
    _ path: String, _ system: SystemCalls, _ protection: FileProtection
  ) throws(DatabaseError) {
    (self.path, self.system, self.protection) = (path, system, protection)
    do throws(TableError) { descriptor = try TableDirectory.open(path, system).descriptor } catch {
      let (fault, place): (DatabaseError.Fault, String?) =
        switch error {
        case .diskFull(_, let place): (.diskFull, place)
        case .system(let cause, let place) where system.isLock(cause): (.locked, place)
        case .system(let cause, let place) where [EACCES, EROFS].contains(cause.code):
          (.readOnly, place)
        case .system(_, let place): (.system, place)
        case .noFolder(let place): (.system, place)
        default: (.system, nil)
        }
      throw DatabaseError(fault, place ?? path, "\(error)")
    }
  }

  deinit { SystemCalls.closeFile(descriptor) }

  package var isOnNetwork: Bool { system.isOnNetwork(descriptor) }

  package static func name(row: Int64, body: UInt64) -> String {
    // Each read of an original makes one: without strings in between.
    String(unsafeUninitializedCapacity: 33) { text in
      text[16] = UInt8(ascii: "-")
      for index in 0..<16 {
        text[index] = digits[Int(row >> (60 - 4 * index)) & 15]
        text[17 + index] = digits[Int(body >> (60 - 4 * index) & 15)]
      }
      return 33
    }
  }

  private static let digits = Array("0123456789abcdef".utf8)

  /// `nil` for a file that is no body.
  package static func numbers(_ name: String) -> (row: Int64, body: UInt64)? {
    let numbers = name.split(separator: "-").compactMap { UInt64($0, radix: 16) }
    guard numbers.count == 2 else { return nil }
    let row = Int64(bitPattern: numbers[0])
    return name == Self.name(row: row, body: numbers[1]) ? (row, numbers[1]) : nil
  }

  /// Makes a file, with its class of protection and its writer's lock.
  package func create(_ name: String) throws(DatabaseError) -> FileDescriptor {
    try wrapping { () throws(SystemError) in
      let file = FileDescriptor(try system.openFile(name, in: descriptor, .creating))
      do throws(SystemError) {
        try system.protect(file.value, as: protection)
        _ = try system.lock(file.value)
      } catch {
        try? system.unlink(name, in: descriptor)
        throw error
      }
      return file
    }
  }

  /// Opens an unfinished file with its writer's lock; `nil` where its writer lives, or there is no such file.
  package func take(_ name: String) throws(DatabaseError) -> FileDescriptor? {
    try wrapping { () throws(SystemError) -> FileDescriptor? in
      let number: Int32
      do throws(SystemError) { number = try system.openFile(name, in: descriptor, .updating) } catch
        where error.isMissing || error.isOccupied
      {
        return nil
      }
      let file = FileDescriptor(number)
      if try system.lock(number) { return file }
      return nil
    }
  }

  /// Whether a process writes the file.
  package func isBeingWritten(_ name: String) throws(DatabaseError) -> Bool {
    if try take(name) != nil { return false }
    return (try? system.status(of: name, in: descriptor))??.isRegularFile == true
  }

  package func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int)
    throws(DatabaseError)
  {
    try wrapping { () throws(SystemError) in try system.write(bytes, to: file, at: offset) }
  }

  /// The first bytes of a body; `nil` where its file is missing, or not what was written.
  ///
  /// - Parameters:
  ///   - count: The bytes that are whole; the file may have more.
  ///   - isDamaged: Set where the file is there, and another one than was written.
  package func read(
    row: Int64, body: UInt64, _ count: Int, _ expected: UInt64, isDamaged: inout Bool
  ) throws(DatabaseError) -> Data? {
    let name = Self.name(row: row, body: body)
    return try wrapping { () throws(SystemError) -> Data? in
      let file: Int32
      do throws(SystemError) { file = try system.openFile(name, in: descriptor, .reading) } catch
        where error.isMissing || error.isOccupied
      {
        isDamaged = !error.isMissing
        return nil
      }
      defer { SystemCalls.closeFile(file) }
      isDamaged = true
      // A count from a disk may be any: no memory is taken for many bytes that are not there.
      let isLarge = count > Checksum.blockByteCount
      if isLarge, try system.status(of: file).byteCount < count { return nil }
      // Read once, into memory of this process that is neither cleared before nor grown.
      guard let memory = malloc(max(count, 1)) else { throw SystemError(call: .read, code: ENOMEM) }
      var isRight = false
      defer { if !isRight { free(memory) } }
      var checksum = body
      for offset in stride(from: 0, to: count, by: Checksum.blockByteCount) {
        let block = UnsafeMutableRawBufferPointer(
          start: memory + offset, count: min(Checksum.blockByteCount, count - offset))
        do throws(SystemError) {
          guard try system.read(file, into: block, at: offset) == block.count else { return nil }
        } catch {
          // No file, or one that its device has lost.
          if system.isLock(error) { throw error }
          return nil
        }
        checksum = Checksum.adding(UnsafeRawBufferPointer(block), to: checksum)
      }
      isRight = checksum == expected
      isDamaged = !isRight
      return isRight ? Data(bytesNoCopy: memory, count: count, deallocator: .free) : nil
    }
  }

  /// Deletes a file; none is no error, and others' directories stay.
  package func remove(_ name: String) throws(DatabaseError) {
    try wrapping { () throws(SystemError) in
      do throws(SystemError) { try system.unlink(name, in: descriptor) } catch {
        if error.isMissing { return }
        if try system.status(of: name, in: descriptor)?.isDirectory != true { throw error }
      }
    }
  }

  /// Lists the folder, without a copy of it in memory.
  package func forEachName(_ body: (String) -> Void) throws(DatabaseError) {
    try wrapping { () throws(SystemError) in try system.forEachName(in: descriptor, body) }
  }

  /// Brings removals to the device.
  package func synchronize() throws(DatabaseError) {
    try wrapping { () throws(SystemError) in try system.synchronizeNames(in: descriptor) }
  }

  private func wrapping<Result: ~Copyable>(
    _ body: () throws(SystemError) -> Result
  ) throws(DatabaseError) -> Result {
    do throws(SystemError) { return try body() } catch { throw DatabaseError(error, path, system) }
  }

  /// Writes a file of a user's own, in the place of what has that path: the old one or the whole new one is
  /// there, readable by this user only. A link at the path is replaced and not followed.
  package static func write(
    _ content: Data, toFile path: String, _ system: SystemCalls
  ) throws(DatabaseError) {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = String(parts.removeLast())
    let folder = parts.isEmpty ? "." : parts.joined(separator: "/")
    let begun = ".new-\(UInt64.random(in: .min ... .max))"
    let target: FileDescriptor
    do throws(SystemError) {
      // The folder itself may be a link.
      target = FileDescriptor(try system.openDirectory(folder + "/."))
    } catch {
      let reason =
        error.isMissing
        ? TableError(error, path: folder) : TableDirectory.failure(error, at: folder, system)
      throw DatabaseError(.system, folder, "\(reason)")
    }
    do throws(SystemError) {
      let file = FileDescriptor(try system.openFile(begun, in: target.value, .creating))
      do throws(SystemError) {
        try content.withUnsafeBytes { bytes in
          Result { () throws(SystemError) in try system.write(bytes, to: file.value, at: 0) }
        }.get()
        try system.rename(begun, to: name, in: target.value)
      } catch {
        // Beside a full disk there is nothing that could be done about a file that stays.
        try? system.unlink(begun, in: target.value)
        throw error
      }
    } catch { throw DatabaseError(error, path, system) }
  }
}
