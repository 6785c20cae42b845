#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A call just before it is made, for the observer in `SystemCalls`.
package struct SystemCall {
  /// The raw value is the verb for people, to be followed by a path.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case openDirectory = "open the folder"
    case makeDirectory = "make a folder in"
    case list = "list the files of"
    case open
    case makeMemoryFile = "make a file of memory for"
    case protect
    case status = "look at"
    case lock
    case read
    case write = "write to"
    case synchronize = "bring to the device"
    case allocate = "reserve space for"
    case map
    case advise = "advise the system of"
    case rename
    case unlink = "delete"
    case handle = "handle signals for"
  }

  package let kind: Kind
  /// The file that is protected, read, written or synchronised, else -1.
  package let descriptor: Int32
  /// The offset in that file, in bytes.
  package let offset: Int
  /// What a file is opened for; `nil` for other calls.
  package let purpose: OpenPurpose?
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

  package var description: String { sentence(about: "the file") }

  /// The failure as a sentence that names the file.
  func sentence(about path: String) -> String {
    "Cannot \(call.rawValue) \(path): \(String(cString: strerror(code)))."
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

  /// True when the file is neither this user's nor the system's. Its owner may do anything with it.
  var isForeign: Bool { owner != geteuid() && owner != 0 }

  /// True for a folder in which any user may make files, and rename and delete those of others.
  var isOpenToAll: Bool { mode & S_IWOTH != 0 && mode & S_ISVTX == 0 }

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
