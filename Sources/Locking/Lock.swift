#if canImport(Darwin)
  import Darwin
  private typealias SystemLock = os_unfair_lock
#else
  import Glibc
  private typealias SystemLock = pthread_mutex_t
#endif

/// A value that one thread at a time may touch, for sections of a few lines that never wait.
///
/// It stands on the system's own mutex rather than on `Synchronization.Mutex`: the latter lives in
/// a library that the thread sanitizer cannot see into, so on Linux every use of it is reported as
/// a race, and it has a long tail when there are more threads than cores.
///
/// Copies are the same lock: each holds one block of memory, with the lock and its value, since locks are
/// made for each load.
///
/// Invariants:
/// 1. The value is touched only while the system's lock is held.
/// 2. The address of the system's lock never changes, which the system's mutexes demand.
///
/// `@unchecked Sendable` is safe by invariant 1: `withLock` is the only way to the value. A section
/// must not let a reference to a class inside the value escape, since the compiler cannot see that.
public struct Lock<Value>: @unchecked Sendable {
  @usableFromInline let memory: LockMemory<Value>

  @inlinable
  public init(_ initialValue: sending Value) {
    memory = LockMemory<Value>.make(initialValue)
  }

  /// Runs `body` while no other thread is inside this lock; it is not recursive.
  ///
  /// Inlined into other modules, which takes `public`, of the type too: compilers inline nothing that is
  /// `package`, and called as a generic function it costs four times what the system's lock does.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // `memory` lives at least until the lock is released, as `self` does.
    let (value, lock) = memory.withUnsafeMutablePointers { ($0, UnsafeMutableRawPointer($1)) }
    acquire(lock)
    defer {
      release(lock)
      withExtendedLifetime(memory) {}
    }
    return try body(&value.pointee)
  }
}

/// A value, and behind it the system's lock.
///
/// The lock stands there as plain words, visible to inlining without its type: a lock that is not specialised
/// for its value costs ten times as much.
@usableFromInline
final class LockMemory<Value>: ManagedBuffer<Value, UInt64> {
  @inlinable
  static func make(_ initialValue: Value) -> LockMemory {
    let memory = create(minimumCapacity: systemLockWordCount()) { memory in
      memory.withUnsafeMutablePointerToElements { makeSystemLock($0) }
      return initialValue
    }
    // `create` returns an object of the class that it is called on.
    return unsafeDowncast(memory, to: LockMemory.self)
  }

  // The value is a stored property of the superclass, and ends after this.
  @inlinable
  deinit { withUnsafeMutablePointerToElements { destroySystemLock($0) } }
}

/// The words that have room for the system's lock.
@usableFromInline
func systemLockWordCount() -> Int {
  precondition(MemoryLayout<SystemLock>.alignment <= MemoryLayout<UInt64>.alignment)
  return (MemoryLayout<SystemLock>.size + 7) / 8
}

#if canImport(Darwin)
  @usableFromInline func makeSystemLock(_ lock: UnsafeMutableRawPointer) {
    lock.bindMemory(to: SystemLock.self, capacity: 1).initialize(to: os_unfair_lock())
  }

  @usableFromInline func destroySystemLock(_ lock: UnsafeMutableRawPointer) {}

  @usableFromInline func acquire(_ lock: UnsafeMutableRawPointer) {
    os_unfair_lock_lock(lock.assumingMemoryBound(to: SystemLock.self))
  }

  @usableFromInline func release(_ lock: UnsafeMutableRawPointer) {
    os_unfair_lock_unlock(lock.assumingMemoryBound(to: SystemLock.self))
  }
#else
  @usableFromInline func makeSystemLock(_ lock: UnsafeMutableRawPointer) {
    let lock = lock.bindMemory(to: SystemLock.self, capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    // Looks again for a moment before it sleeps: nearly all sections are a few lines, and waking a
    // thread takes longer than ten of them. The few that write to files only lose that moment.
    pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
    let code = pthread_mutex_init(lock, &attributes)
    pthread_mutexattr_destroy(&attributes)
    precondition(code == 0, "pthread_mutex_init(3) failed with \(code).")
  }

  @usableFromInline func destroySystemLock(_ lock: UnsafeMutableRawPointer) {
    pthread_mutex_destroy(lock.assumingMemoryBound(to: SystemLock.self))
  }

  // A lock of this kind can fail only on misuse, which the type rules out.
  @usableFromInline func acquire(_ lock: UnsafeMutableRawPointer) {
    pthread_mutex_lock(lock.assumingMemoryBound(to: SystemLock.self))
  }

  @usableFromInline func release(_ lock: UnsafeMutableRawPointer) {
    pthread_mutex_unlock(lock.assumingMemoryBound(to: SystemLock.self))
  }
#endif
