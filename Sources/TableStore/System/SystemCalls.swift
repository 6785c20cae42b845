#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Every call that tables make to the operating system, with interruptions retried and failures
/// thrown.
///
/// Tests hand in an observer that sees each call just before it is made, and may refuse it by
/// throwing, record it, or end the process. A hit makes no call at all.
package struct SystemCalls: Sendable {
  package typealias Observer = @Sendable (borrowing SystemCall) throws(SystemError) -> Void

  /// The calls without an observer.
  package static let live = SystemCalls()

  private let observer: Observer?
  private let fixedVolumeKind: VolumeKind?
  /// True where a locked device closes files to this process.
  package let hasFileProtection: Bool
  /// This start of the system; `nil` where it is not known, and then no index file is kept.
  let bootID: @Sendable () -> BootID?
  /// Called after each store to an index, in tests.
  let indexStep: (@Sendable () -> Void)?

  /// - Parameters:
  ///   - volumeKind: stands for the kind of every volume.
  ///   - hasFileProtection: lets a system without data protection pass for one that has it.
  ///   - bootID: stands for this start of the system.
  package init(
    observer: Observer? = nil, volumeKind: VolumeKind? = nil, hasFileProtection: Bool? = nil,
    bootID: @autoclosure @escaping @Sendable () -> BootID? = .current,
    indexStep: (@Sendable () -> Void)? = nil
  ) {
    self.observer = observer
    self.hasFileProtection = hasFileProtection ?? Platform.hasFileProtection
    self.bootID = bootID
    self.indexStep = indexStep
    fixedVolumeKind = volumeKind
  }

  // MARK: Directories

  /// Opens the directory at `path` itself, never one that a link at the end of `path` names.
  package func openDirectory(_ path: String) throws(SystemError) -> Int32 {
    try call(.openDirectory) {
      open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
  }

  /// Makes a directory that only its owner may enter, and is content when the name exists.
  func makeDirectory(_ path: String) throws(SystemError) {
    do throws(SystemError) {
      _ = try call(.makeDirectory) { mkdir(path, 0o700) }
    } catch  where error.code == EEXIST {}
  }

  /// The names in a directory, in no order, without the two that every directory has.
  package func names(in directory: Int32) throws(SystemError) -> [String] {
    var names: [String] = []
    try forEachName(in: directory) { names.append($0) }
    return names
  }

  /// Calls `body` with each of these names.
  package func forEachName(
    in directory: Int32, _ body: (String) -> Void
  ) throws(SystemError) {
    let descriptor = try call(.list) {
      openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard let stream = fdopendir(descriptor) else {
      let code = errno
      close(descriptor)
      throw SystemError(call: .list, code: code)
    }
    defer { closedir(stream) }
    try Self.forEachName({ readdir(stream) }, body)
  }

  /// The names that readdir(3) brings. It answers `nil` at the end and after an error; `errno` alone
  /// tells them apart.
  static func forEachName(
    _ next: () -> UnsafeMutablePointer<dirent>?, _ body: (String) -> Void
  ) throws(SystemError) {
    while true {
      errno = 0
      guard let item = next() else {
        let code = errno
        guard code == 0 else { throw SystemError(call: .list, code: code) }
        return
      }
      // The name lies inside the item that readdir(3) lends until its next call.
      let name = withUnsafePointer(to: &item.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { body(name) }
    }
  }

  // MARK: Files by name

  /// Opens `name` below `directory` without following links or waiting for a pipe's other end.
  ///
  /// A refusal that rights do not explain is thrown as one by the lock of the device, see
  /// ``isLock(_:)``.
  package func openFile(
    _ name: String, in directory: Int32, _ purpose: OpenPurpose
  ) throws(SystemError) -> Int32 {
    let flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    do throws(SystemError) {
      return try call(.open, purpose: purpose) {
        switch purpose {
        case .reading: openat(directory, name, O_RDONLY | flags)
        case .updating: openat(directory, name, O_RDWR | flags)
        case .creating: openat(directory, name, O_RDWR | O_CREAT | O_EXCL | flags, 0o600)
        }
      }
    } catch  where hasFileProtection && error.isRefusal {
      // A file that is to be made has no rights yet; those of its directory decide.
      let status =
        purpose == .creating ? try? status(of: directory) : try? status(of: name, in: directory)
      throw status?.isOpenToUs == true ? SystemError(call: .protect, code: error.code) : error
    }
  }

  /// The status of a name, of a link itself and not its target; `nil` when nothing has the name.
  package func status(of name: String, in directory: Int32) throws(SystemError) -> FileStatus? {
    var value = stat()
    do throws(SystemError) {
      _ = try call(.status) { fstatat(directory, name, &value, AT_SYMLINK_NOFOLLOW) }
    } catch  where error.code == ENOENT {
      return nil
    }
    return FileStatus(value)
  }

  /// The status of the file at a path, links on the way to it followed; `nil` when there is none.
  package func status(ofPath path: String) throws(SystemError) -> FileStatus? {
    try status(of: path, in: AT_FDCWD)
  }

  package func rename(
    _ name: String, to newName: String, in directory: Int32
  ) throws(SystemError) {
    _ = try call(.rename) { renameat(directory, name, directory, newName) }
  }

  package func unlink(_ name: String, in directory: Int32) throws(SystemError) {
    _ = try call(.unlink) { unlinkat(directory, name, 0) }
  }

  // MARK: Open files

  /// Makes a file without a name, which is gone with its last descriptor and mapping.
  ///
  /// - Parameter folder: Where systems that have no files of memory make it.
  func makeMemoryFile(in folder: String) throws(SystemError) -> Int32 {
    try call(.makeMemoryFile) { Platform.makeMemoryFile(in: folder) }
  }

  package func status(of descriptor: Int32) throws(SystemError) -> FileStatus {
    var value = stat()
    _ = try call(.status) { fstat(descriptor, &value) }
    return FileStatus(value)
  }

  /// Gives the open file its class; without effect on volumes that have none.
  package func protect(_ descriptor: Int32, as protection: FileProtection) throws(SystemError) {
    do throws(SystemError) {
      _ = try call(.protect, descriptor: descriptor) {
        Platform.protect(descriptor, as: protection)
      }
    } catch {
      if isLock(error) { throw error }
    }
  }

  /// True when the error means that the device is locked now. On systems with data protection,
  /// rights are checked when a file is opened and never again. Elsewhere a refusal stays: network
  /// file systems of Linux check rights at each call.
  package func isLock(_ error: SystemError) -> Bool {
    hasFileProtection && error.isRefusal
      && [.protect, .read, .write, .synchronize].contains(error.call)
  }

  /// Takes the exclusive lock of the open file without waiting; false when it is taken.
  package func lock(_ descriptor: Int32) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try call(.lock) { flock(descriptor, LOCK_EX | LOCK_NB) }
    } catch  where error.code == EWOULDBLOCK {
      return false
    }
    return true
  }

  /// Fills `buffer` from `offset` on and returns the number of bytes read, fewer where the file
  /// ends.
  package func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = try call(.read, descriptor: descriptor, offset: offset + done) {
        pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes all of `bytes` at `offset`; an error may leave any part of them written.
  package func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int
  ) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      done += try call(.write, descriptor: descriptor, offset: offset + done, bytes: rest) {
        pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
    }
  }

  /// Writes all of `bytes` at `offset`, as above.
  package func write(_ bytes: [UInt8], to descriptor: Int32, at offset: Int) throws(SystemError) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try write(bytes, to: descriptor, at: offset) }
    }
    try result.get()
  }

  /// Reads up to `count` bytes from `offset` on, fewer where the file ends.
  package func read(_ descriptor: Int32, count: Int, at offset: Int) throws(SystemError) -> [UInt8]
  {
    var failure: SystemError?
    // The array is neither cleared before nor copied afterwards.
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, done in
      let buffer = UnsafeMutableRawBufferPointer(start: room.baseAddress, count: count)
      do throws(SystemError) {
        done = try read(descriptor, into: buffer, at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Brings the file's bytes to the device, as far as the system can tell.
  func synchronize(_ descriptor: Int32) throws(SystemError) {
    _ = try call(.synchronize, descriptor: descriptor) { Platform.synchronize(descriptor) }
  }

  /// Brings the names in a directory to the device; without effect on file systems that cannot.
  package func synchronizeNames(in directory: Int32) throws(SystemError) {
    do throws(SystemError) {
      // In a directory fdatasync(2) may leave out a renaming.
      _ = try call(.synchronize, descriptor: directory) { fsync(directory) }
    } catch  where error.code == EINVAL {}
  }

  /// The kind of volume that a file is on.
  func volumeKind(of descriptor: Int32) -> VolumeKind {
    fixedVolumeKind ?? Platform.volumeKind(of: descriptor)
  }

  /// Whether a file is on another machine, where locks cannot be trusted.
  package func isOnNetwork(_ descriptor: Int32) -> Bool {
    fixedVolumeKind.map { $0 == .unsafeToMap } ?? Platform.isOnNetwork(descriptor)
  }

  /// Maps bytes of the file from `offset` on; the range may reach beyond the file's end.
  ///
  /// - Parameter address: Puts the mapping in the place of what is there, in one step.
  func map(
    _ descriptor: Int32, byteCount: Int, at offset: Int = 0,
    over address: UnsafeMutableRawPointer? = nil, isWritable: Bool = false
  ) throws(SystemError) -> UnsafeMutableRawPointer {
    let access = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
    let flags = address == nil ? MAP_SHARED : MAP_SHARED | MAP_FIXED
    // MAP_FAILED is -1.
    let base = try call(.map) {
      Int(bitPattern: mmap(address, byteCount, access, flags, descriptor, off_t(offset)))
    }
    guard let start = UnsafeMutableRawPointer(bitPattern: base) else {
      throw SystemError(call: .map, code: EINVAL)
    }
    return start
  }

  /// Gives a file this size, and blocks of the device for all of it, so that no write through a mapping
  /// finds the disk full.
  func allocate(_ descriptor: Int32, byteCount: Int) throws(SystemError) {
    _ = try call(.allocate, descriptor: descriptor) { Platform.allocate(descriptor, byteCount) }
  }

  /// Tells the system that mapped bytes of a file will not be read soon, so that it takes their pages
  /// before others. Nothing changes but which pages go first.
  ///
  /// - Parameter bytes: Begin on a page.
  func cool(
    _ bytes: UnsafeRawBufferPointer, of descriptor: Int32, at offset: Int
  ) throws(SystemError) {
    let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
    _ = try call(.advise, descriptor: descriptor, offset: offset, bytes: bytes) {
      Platform.cool(start, bytes.count)
    }
  }

  func unmap(_ base: UnsafeRawPointer, byteCount: Int) {
    munmap(UnsafeMutableRawPointer(mutating: base), byteCount)
  }

  /// Gives the lock of an open file up, for all descriptors that share it.
  ///
  /// Closing would do the same, but only once no process has a copy of the descriptor; a process
  /// that is being spawned has, for a moment, copies of all.
  package static func unlock(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }

  /// Closes without a look at the result: after a failed close(2) a caller can do nothing more.
  package static func closeFile(_ descriptor: Int32) { _ = close(descriptor) }

  // MARK: Private

  /// Shows a call to the observer and makes it, again after interruptions.
  private func call<Code: FixedWidthInteger>(
    _ kind: SystemCall.Kind, descriptor: Int32 = -1, offset: Int = 0,
    purpose: OpenPurpose? = nil, bytes: UnsafeRawBufferPointer? = nil, _ body: () -> Code
  ) throws(SystemError) -> Code {
    if let observer {
      try observer(
        SystemCall(
          kind: kind, descriptor: descriptor, offset: offset, purpose: purpose, bytes: bytes))
    }
    while true {
      let result = body()
      if result != -1 { return result }
      if errno != EINTR { throw SystemError(call: kind, code: errno) }
    }
  }
}
