// Names and cases are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

// The system's C library: what Glibc lacks is declared here, all else is Glibc's. Types of the same
// name and another width, such as `mode_t`, cannot be declared anew, because Foundation for Linux
// brings Glibc's along and a file that imports both could not choose. Dispatch is for one of its classes.
public import Dispatch
@_exported public import Glibc

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

public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) {}
public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) {}
public func os_unfair_lock_trylock(_ lock: os_unfair_lock_t) -> Bool { true }

// MARK: <sys/stat.h>

extension stat {
  public var st_atimespec: timespec { timespec() }
  public var st_mtimespec: timespec { timespec() }
  public var st_ctimespec: timespec { timespec() }
}

// MARK: <sys/mount.h>

public struct statfs {
  // Sixteen characters there; what is done with them does not depend on how many there are.
  public var f_fstypename: (CChar, CChar, CChar, CChar) = (0, 0, 0, 0)
  public init() {}
}

public func fstatfs(_ descriptor: Int32, _ status: UnsafeMutablePointer<statfs>) -> Int32 { 0 }

// MARK: <fcntl.h>, <unistd.h>

public var F_FULLFSYNC: Int32 { 51 }
public var F_BARRIERFSYNC: Int32 { 85 }
public var F_SETPROTECTIONCLASS: Int32 { 64 }

public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { 0 }

// Darwin has no such call: hiding it makes its use an error here too.
@available(*, unavailable, message: "Darwin has no fdatasync(2).")
public func fdatasync(_ descriptor: Int32) -> Int32 { -1 }

// MARK: Dispatch

// Dispatch for Linux lacks the sources of memory pressure.
public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {}

extension DispatchSourceMemoryPressure {
  public var data: DispatchSource.MemoryPressureEvent { [] }
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
    preconditionFailure()
  }
}
