import Foundation
import Locking

/// Trims the memory of all open caches when the system is short of it.
///
/// Invariants, true whenever the lock is free:
/// 1. Notices begin when a cache first has memory that could be given back, once in a process, and end with the
///    process: the kernel takes milliseconds to close a pressure file, and a thread for each of many short caches
///    would wait for that.
/// 2. Members are known weakly. A cache that is dropped without being closed removes itself.
/// 3. Members trim outside the lock, on the thread of the notice. One that leaves meanwhile may trim once
///    more, which loses nothing.
final class MemoryPressureWatch: Sendable {
  /// Takes how much a notice asks for.
  typealias Report = @Sendable (MemoryTrim) -> Void
  /// Begins notices. It must not report before it returns.
  typealias Begin = @Sendable (_ report: @escaping Report) -> Void

  static let shared = MemoryPressureWatch(PressureNotices.begin)

  private struct Member: Sendable {
    weak let memory: TrimmableMemory?
  }

  private struct State {
    /// The process whose members and notices these are: a child of fork(2) has the members and no thread.
    var process: Int32
    var members: [ObjectIdentifier: Member] = [:]
    var hasBegun = false
  }

  private let begin: Begin
  private let process: @Sendable () -> Int32
  private let state: Lock<State>

  /// - Parameter process: The number of the running process; tests pass for another one.
  init(
    process: @escaping @Sendable () -> Int32 = { ProcessInfo.processInfo.processIdentifier },
    _ begin: @escaping Begin
  ) {
    (self.process, self.begin) = (process, begin)
    state = Lock(State(process: process()))
  }

  func add(_ memory: TrimmableMemory) {
    changeState { $0.members[ObjectIdentifier(memory)] = Member(memory: memory) }
  }

  /// Harmless for a member that is not there.
  func remove(_ member: ObjectIdentifier) {
    changeState { $0.members[member] = nil }
  }

  /// Begins the notices; later calls change nothing.
  func start() {
    let isFirst = changeState { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if isFirst { begin { [weak self] in self?.trim($0) } }
  }

  var hasBegun: Bool { changeState { $0.hasBegun } }

  @discardableResult
  private func changeState<Result>(_ change: (inout State) -> Result) -> Result {
    let process = process()
    return state.withLock { state in
      if state.process != process { state = State(process: process) }
      return change(&state)
    }
  }

  private func trim(_ level: MemoryTrim) {
    let members = changeState { $0.members.values.compactMap(\.memory) }
    for memory in members { memory.trim(level) }
  }
}
