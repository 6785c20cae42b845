import Locking
package import TableStore

/// Counts the calls to the operating system, and lets one of them, or all from one on, fail.
package final class FaultPlan: Sendable {
  private struct State {
    var kinds: [SystemCall.Kind] = []
    var offsets: [Int] = []
    var failFrom = Int.max
    var failUpTo = Int.max
    var onlyKinds: Set<SystemCall.Kind> = []
    var failureCount = 0
  }

  private let code: Int32
  private let state = Lock(State())

  private let hasFileProtection: Bool?
  private let bootID: BootID?

  /// - Parameter keepsIndex: False makes no index files, so that every call is one for a table file.
  package init(code: Int32 = 5, hasFileProtection: Bool? = nil, keepsIndex: Bool = false) {
    self.code = code
    self.hasFileProtection = hasFileProtection
    bootID = keepsIndex ? .current : nil
  }

  package var system: SystemCalls {
    SystemCalls(
      observer: { [self] call throws(SystemError) in
        let kind = call.kind
        let offset = call.offset
        let mustFail = state.withLock { state in
          state.kinds.append(kind)
          state.offsets.append(offset)
          guard state.onlyKinds.isEmpty || state.onlyKinds.contains(kind) else { return false }
          let count =
            state.onlyKinds.isEmpty
            ? state.kinds.count : state.kinds.count { state.onlyKinds.contains($0) }
          let isInRange = count > state.failFrom && count <= state.failUpTo
          if isInRange { state.failureCount += 1 }
          return isInRange
        }
        if mustFail { throw SystemError(call: kind, code: code) }
      }, hasFileProtection: hasFileProtection, bootID: self.bootID)
  }

  /// The calls so far.
  package var calls: [SystemCall.Kind] { state.withLock { $0.kinds } }

  /// The offsets of the writes and reads so far.
  package var offsets: [Int] { state.withLock { $0.offsets } }

  /// The number of calls that failed by plan.
  package var failureCount: Int { state.withLock { $0.failureCount } }

  /// Forgets the calls so far, and lets those after the next `skipped` fail, `count` of them.
  package func fail(after skipped: Int, count: Int = .max, only kinds: Set<SystemCall.Kind> = []) {
    state.withLock { state in
      state = State()
      state.failFrom = skipped
      state.failUpTo = count == .max ? .max : skipped + count
      state.onlyKinds = kinds
    }
  }

  /// Lets all calls pass, and counts from nothing.
  package func pass() { state.withLock { $0 = State() } }
}
