// Names and cases are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

// The system's C library: what Glibc lacks is declared here, all else is Glibc's. Types of the same
// name and another width, such as `mode_t`, cannot be declared anew, because Foundation for Linux
// brings Glibc's along and a file that imports both could not choose. Dispatch is for one of its classes.
public import Dispatch
@_exported public import Glibc
import Synchronization

// MARK: <os/lock.h>

public struct os_unfair_lock_s {
  public var _os_unfair_lock_opaque: UInt32
  public init() { _os_unfair_lock_opaque = 0 }
  public init(_os_unfair_lock_opaque: UInt32) {
    self._os_unfair_lock_opaque = _os_unfair_lock_opaque
  }
}
public typealias os_unfair_lock = os_unfair_lock_s
public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock_s>

public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) {
  while !os_unfair_lock_trylock(lock) { sched_yield() }
}
public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) {
  atomic(lock).pointee.store(0, ordering: .releasing)
}
public func os_unfair_lock_trylock(_ lock: os_unfair_lock_t) -> Bool {
  atomic(lock).pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
}

/// `Atomic<UInt32>` has the layout of the number that the lock consists of.
private func atomic(_ lock: os_unfair_lock_t) -> UnsafeMutablePointer<Atomic<UInt32>> {
  UnsafeMutableRawPointer(lock).assumingMemoryBound(to: Atomic<UInt32>.self)
}

// MARK: <sys/stat.h>

extension stat {
  public var st_mtimespec: timespec { st_mtim }
  /// Unknown, as on volumes that do not keep it.
  public var st_birthtimespec: timespec { timespec() }
}

// MARK: <sys/mount.h>

public struct statfs {
  // Sixteen characters there; what is done with them does not depend on how many there are.
  public var f_fstypename: (CChar, CChar, CChar, CChar) = (0, 0, 0, 0)
  public var f_flags = UInt32(MNT_LOCAL)
  public init() {}
}

public var MNT_LOCAL: Int32 { 0x1000 }

/// Every volume is Apple's.
public func fstatfs(_ descriptor: Int32, _ status: UnsafeMutablePointer<statfs>) -> Int32 {
  let name = "apfs".utf8.map { CChar($0) }
  status.pointee.f_fstypename = (name[0], name[1], name[2], name[3])
  return 0
}

// MARK: <fcntl.h>, <unistd.h>

public var F_FULLFSYNC: Int32 { 51 }
public var F_BARRIERFSYNC: Int32 { 85 }
public var F_SETPROTECTIONCLASS: Int32 { 64 }

public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 {
  switch command {
  case F_FULLFSYNC, F_BARRIERFSYNC: fsync(descriptor)
  // The file stays as it is: no device is locked.
  case F_SETPROTECTIONCLASS: 0
  default: Glibc.fcntl(descriptor, command, value)
  }
}

public struct fstore_t {
  public var fst_flags: UInt32
  public var fst_posmode: Int32
  public var fst_offset: off_t
  public var fst_length: off_t
  public var fst_bytesalloc: off_t
  public init(
    fst_flags: UInt32, fst_posmode: Int32, fst_offset: off_t, fst_length: off_t,
    fst_bytesalloc: off_t
  ) {
    (self.fst_flags, self.fst_posmode, self.fst_offset) = (fst_flags, fst_posmode, fst_offset)
    (self.fst_length, self.fst_bytesalloc) = (fst_length, fst_bytesalloc)
  }
}
public var F_PREALLOCATE: Int32 { 42 }
public var F_ALLOCATEALL: Int32 { 4 }
public var F_PEOFPOSMODE: Int32 { 3 }

/// Reserves nothing: there is room.
public func fcntl(
  _ descriptor: Int32, _ command: Int32, _ value: UnsafeMutableRawPointer
) -> Int32 { command == F_PREALLOCATE ? 0 : Glibc.fcntl(descriptor, command, value) }

// Darwin has no such call: hiding it makes its use an error here too.
@available(*, unavailable, message: "Darwin has no fdatasync(2).")
public func fdatasync(_ descriptor: Int32) -> Int32 { -1 }

// MARK: <sys/sysctl.h>

/// Knows no name.
public func sysctlbyname(
  _ name: UnsafePointer<CChar>, _ old: UnsafeMutableRawPointer?,
  _ oldCount: UnsafeMutablePointer<Int>?, _ new: UnsafeMutableRawPointer?, _ newCount: Int
) -> Int32 { -1 }

// MARK: <dlfcn.h>

/// Darwin's `RTLD_DEFAULT` is -2, which is no handle here.
public func dlsym(
  _ handle: UnsafeMutableRawPointer?, _ symbol: UnsafePointer<CChar>
) -> UnsafeMutableRawPointer? {
  Glibc.dlsym(handle == UnsafeMutableRawPointer(bitPattern: -2) ? nil : handle, symbol)
}

// MARK: Dispatch

// Dispatch for Linux lacks the sources of memory pressure. These report what a test adds to them.
public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {}

extension DispatchSource: DispatchSourceMemoryPressure {}

extension DispatchSourceMemoryPressure {
  public var data: DispatchSource.MemoryPressureEvent {
    let source = self as? any DispatchSourceUserDataOr
    return DispatchSource.MemoryPressureEvent(rawValue: source?.data ?? 0)
  }
}

extension DispatchSource {
  public struct MemoryPressureEvent: OptionSet, RawRepresentable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let normal = MemoryPressureEvent(rawValue: 1)
    public static let warning = MemoryPressureEvent(rawValue: 2)
    public static let critical = MemoryPressureEvent(rawValue: 4)
    public static let all: MemoryPressureEvent = [.normal, .warning, .critical]
  }

  public class func makeMemoryPressureSource(
    eventMask: DispatchSource.MemoryPressureEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceMemoryPressure {
    guard
      let source = makeUserDataOrSource(queue: queue) as? any DispatchSourceMemoryPressure
    else { preconditionFailure("Every source is a DispatchSource.") }
    return source
  }
}
