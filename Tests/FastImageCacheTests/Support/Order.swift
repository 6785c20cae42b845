import Dispatch
import Locking
import TestSupport

@testable import FastImageCache

/// Notes what happened, in order, from any thread.
final class Order: Sendable {
  private let state = Lock<[String]>([])
  var notes: [String] { state.withLock { $0 } }
  func note(_ note: String) { state.withLock { $0.append(note) } }
}

/// How many were inside at the same time at most.
final class Peak: Sendable {
  private let state = Lock((now: 0, most: 0))

  var value: Int { state.withLock { $0.most } }

  func enter() {
    state.withLock { state in
      state.now += 1
      state.most = max(state.most, state.now)
    }
  }

  func leave() { state.withLock { $0.now -= 1 } }
}

/// Work that holds a pool's only worker until it is let go.
struct Occupied {
  private let door = DispatchSemaphore(value: 0)
  private let task: Task<Void, any Error>

  init(_ pool: WorkerPool, byteCount: Int = 0) async throws {
    let started = Counter()
    let door = door
    task = Task {
      try await pool.run(priority: .high, byteCount: byteCount) { _ in
        started.increment()
        door.wait()
      }
    }
    await started.reaches(1)
  }

  func leave() async throws {
    door.signal()
    try await task.value
  }
}
