#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A call just before it is made, for the observer in `SystemCalls`.
package struct SystemCall {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case openDirectory = "open(2) of a directory"
    case makeDirectory = "mkdir(2)"
    case list = "readdir(3)"
    case open = "openat(2)"
    case makeMemoryFile = "memfd_create(2)"
    case protect = "fcntl(2)"
    case status = "fstat(2)"
    case lock = "flock(2)"
    case read = "pread(2)"
    case write = "pwrite(2)"
    case synchronize = "fdatasync(2) or fsync(2)"
    case allocate = "posix_fallocate(3) or fcntl(2)"
    case map = "mmap(2)"
    case advise = "madvise(2)"
    case rename = "renameat(2)"
    case unlink = "unlinkat(2)"
    case handle = "sigaction(2)"
  }

  package let kind: Kind
  /// The file that is protected, read, written or synchronised, else -1.
  package let descriptor: Int32
  /// The offset in that file, in bytes.
  package let offset: Int
  /// The bytes to write; valid during the observer's call only.
  package let bytes: UnsafeRawBufferPointer?
}

/// A call that failed, and the `errno` it failed with.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  package let call: SystemCall.Kind
  package let code: Int32

  package init(call: SystemCall.Kind, code: Int32) {
    self.call = call
    self.code = code
  }

  package var description: String {
    "\(call.rawValue) failed: \(String(cString: strerror(code))) (\(code))"
  }
}

/// The purpose of opening a file.
package enum OpenPurpose {
  case reading
  case updating
  /// A file that must not exist yet.
  case creating
}

/// The part of `stat(2)` that tables look at.
package struct FileStatus: Equatable {
  /// Tells files apart, under any names.
  package struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  package let identity: Identity
  package let isRegularFile: Bool
  package let isDirectory: Bool
  let linkCount: Int
  package let byteCount: Int
  /// Bytes of the device that the file takes, holes left out.
  let diskByteCount: Int
  private let owner: uid_t
  private let mode: mode_t

  /// True when the file is this user's and nobody else may read or write it.
  package var isPrivate: Bool { owner == geteuid() && mode & 0o077 == 0 }

  /// True when owner and mode let this user open the file. If opening is refused all the same, the
  /// device is locked.
  package var isOpenToUs: Bool { owner == geteuid() && mode & 0o600 == 0o600 }

  init(_ value: stat) {
    identity = Identity(
      device: UInt64(truncatingIfNeeded: value.st_dev), inode: UInt64(value.st_ino))
    isRegularFile = value.st_mode & S_IFMT == S_IFREG
    isDirectory = value.st_mode & S_IFMT == S_IFDIR
    linkCount = Int(value.st_nlink)
    byteCount = Int(value.st_size)
    // POSIX leaves the unit of st_blocks open; Linux and Darwin count 512 bytes.
    diskByteCount = Int(value.st_blocks) * 512
    owner = value.st_uid
    mode = value.st_mode
  }
}

extension SystemError {
  var isDiskFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

  /// Other processes won every race for a name.
  package static let lostRaces = SystemError(call: .rename, code: EAGAIN)

  /// Nothing stands under the name.
  package var isMissing: Bool { code == ENOENT }

  /// The name appeared since it was looked at.
  package var isPresent: Bool { code == EEXIST }

  /// Something stands under the name that cannot be opened as a table: a link, a socket. A new file
  /// may take its name.
  package var isReplaceable: Bool { [ELOOP, EMLINK, ENXIO, ENODEV, EOPNOTSUPP].contains(code) }

  /// The system forbids the call, by rights or because the device is locked
  /// (`SystemCalls.isLock(_:)`).
  package var isRefusal: Bool { code == EACCES || code == EPERM }

  /// The path leads to something that is no directory, or the name is one.
  package var isOccupied: Bool { [ENOTDIR, ELOOP, EMLINK, EISDIR, EEXIST].contains(code) }
}
