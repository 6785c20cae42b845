import Foundation
import Locking

/// How short of memory the system is.
enum MemoryPressure: Comparable, Sendable {
  /// Some tasks wait for memory.
  case warning
  /// Little else happens, or the system is about to end processes.
  case critical

  var trim: MemoryTrim {
    switch self {
    case .warning: .spare
    case .critical: .pages
    }
  }
}

/// Trims the memory of all open caches when the system is short of it.
///
/// Invariants, true whenever the lock is free:
/// 1. Notices come if and only if there are members, and are those of this process. The first member
///    begins them and the last one ends them; nothing asks for the pressure in between.
/// 2. Members are known weakly. A cache that is dropped without being closed removes itself.
/// 3. Members trim outside the lock, on the thread of the notice. One that leaves meanwhile may trim once
///    more, which loses nothing.
final class MemoryPressureWatch: Sendable {
  typealias Report = @Sendable (MemoryPressure) -> Void
  /// Begins notices; returns the call that ends them. It must not report before it returns.
  typealias Begin = @Sendable (_ report: @escaping Report) -> End
  typealias End = @Sendable () -> Void

  static let shared = MemoryPressureWatch(PressureNotices.begin)

  private struct Member: Sendable {
    weak let memory: TrimmableMemory?
  }

  private struct State {
    var members: [ObjectIdentifier: Member] = [:]
    var end: End?
    /// The process in which the notices began.
    var process: Int32 = 0
  }

  private let begin: Begin
  private let process: @Sendable () -> Int32
  private let state = Lock(State())

  /// - Parameter process: The number of the running process; tests pass for another one.
  init(
    process: @escaping @Sendable () -> Int32 = { ProcessInfo.processInfo.processIdentifier },
    _ begin: @escaping Begin
  ) {
    (self.process, self.begin) = (process, begin)
  }

  func add(_ memory: TrimmableMemory) {
    let process = process()
    state.withLock { state in
      // A child of fork(2) has the members and no thread. What would end the parent's notices is left
      // alone.
      if state.process != process { state = State() }
      state.members[ObjectIdentifier(memory)] = Member(memory: memory)
      if state.end == nil {
        state.end = begin { [weak self] in self?.trim($0) }
        state.process = process
      }
    }
  }

  /// Harmless for a member that is not there.
  func remove(_ member: ObjectIdentifier) {
    let process = process()
    state.withLock { state in
      state.members[member] = nil
      guard state.members.isEmpty, state.process == process else { return }
      state.end.take()?()
    }
  }

  private func trim(_ pressure: MemoryPressure) {
    let members = state.withLock { $0.members.values.compactMap(\.memory) }
    for memory in members { memory.trim(pressure.trim) }
  }
}
