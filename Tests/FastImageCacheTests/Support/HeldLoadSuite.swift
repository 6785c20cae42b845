import Locking
import TestSupport

@testable import FastImageCache

/// Tests of one load, whose source waits at a door and shows the priority that it reads meanwhile.
protocol HeldLoadSuite: Sendable {
  var started: Counter { get }
  var door: CancellableGate { get }
  var asked: Lock<[ImageSourceRequest]> { get }
}

extension HeldLoadSuite {
  var photo: Photo { Photo("a", url: "test:/1") }

  /// What the source reads while it loads.
  var priority: TaskPriority? { asked.withLock { $0.last }?.priority }

  func fixture(_ formats: [ImageFormat] = [.row]) async throws -> Fixture {
    try await Fixture(formats) {
      $0.source = .closure { request in
        asked.withLock { $0.append(request) }
        started.increment()
        try await door.pass()
        return .bitmap(try solid(1))
      }
    }
  }
}
