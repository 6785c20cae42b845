import Dispatch
import TestSupport

@testable import FastImageCache

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
