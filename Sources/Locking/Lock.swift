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
/// Invariants:
/// 1. `value` is touched only while `lock` is held.
/// 2. The lock's address never changes, which the system's mutexes demand.
///
/// `@unchecked Sendable` is safe by invariant 1: `withLock` is the only way to `value`. A section
/// must not let a reference to a class inside `value` escape, since the compiler cannot see that.
package final class Lock<Value>: @unchecked Sendable {
  // Visible to inlining, and the lock without its type for that: a lock that is not specialised for
  // its value costs ten times as much.
  @usableFromInline let lock: UnsafeMutableRawPointer
  @usableFromInline let value: UnsafeMutablePointer<Value>

  package init(_ initialValue: sending Value) {
    // One block for both: locks are made for each load.
    let alignment = max(MemoryLayout<Value>.alignment, MemoryLayout<SystemLock>.alignment)
    let offset = (MemoryLayout<SystemLock>.size + alignment - 1) / alignment * alignment
    lock = .allocate(byteCount: offset + MemoryLayout<Value>.size, alignment: alignment)
    makeSystemLock(lock)
    value = (lock + offset).bindMemory(to: Value.self, capacity: 1)
    value.initialize(to: initialValue)
  }

  deinit {
    value.deinitialize(count: 1)
    destroySystemLock(lock)
    lock.deallocate()
  }

  /// Runs `body` while no other thread is inside this lock; it is not recursive.
  ///
  /// Inlined into other modules, which takes `public`: called as a generic function it costs four
  /// times what the system's lock does.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    acquire(lock)
    defer { release(lock) }
    return try body(&value.pointee)
  }
}

#if canImport(Darwin)
  private func makeSystemLock(_ lock: UnsafeMutableRawPointer) {
    lock.bindMemory(to: SystemLock.self, capacity: 1).initialize(to: os_unfair_lock())
  }

  private func destroySystemLock(_ lock: UnsafeMutableRawPointer) {}

  @usableFromInline func acquire(_ lock: UnsafeMutableRawPointer) {
    os_unfair_lock_lock(lock.assumingMemoryBound(to: SystemLock.self))
  }

  @usableFromInline func release(_ lock: UnsafeMutableRawPointer) {
    os_unfair_lock_unlock(lock.assumingMemoryBound(to: SystemLock.self))
  }
#else
  private func makeSystemLock(_ lock: UnsafeMutableRawPointer) {
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

  private func destroySystemLock(_ lock: UnsafeMutableRawPointer) {
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
