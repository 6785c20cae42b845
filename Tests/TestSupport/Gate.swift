import Dispatch
import Locking

/// A door that tasks wait at until a test opens it; afterwards all tasks pass.
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [@Sendable () -> Void] = []
  }
  private let state = Lock(State())
  private let closed = DispatchGroup()

  public init() { closed.enter() }

  /// Lets all tasks pass, now and later.
  public func open() {
    let (wasOpen, waiters) = state.withLock { state in
      defer {
        state.isOpen = true
        state.waiters = []
      }
      return (state.isOpen, state.waiters)
    }
    if !wasOpen { closed.leave() }
    for waiter in waiters { waiter() }
  }

  /// Waits until the gate is open.
  public func pass() async {
    await withCheckedContinuation { continuation in whenOpen { continuation.resume() } }
  }

  /// Calls `body` once the gate is open, on the thread that opens it: no task has to get its turn first.
  public func whenOpen(_ body: @escaping @Sendable () -> Void) {
    let isOpen = state.withLock { state in
      if !state.isOpen { state.waiters.append(body) }
      return state.isOpen
    }
    if isOpen { body() }
  }

  /// Blocks the thread until the gate is open; for code that runs on threads that may block.
  public func waitBlocking() { closed.wait() }
}
