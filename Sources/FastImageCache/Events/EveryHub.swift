import Locking

/// Brings the listeners of every cache and the hubs of this process together.
///
/// Invariants:
/// 1. Each listener is with each hub: a new hub gets all listeners, and a new listener all hubs, in one
///    section of the lock.
/// 2. The lock is taken before a hub's, never under one. Nothing is resumed or released under it: a
///    reader that is cancelled comes here from under its task's lock.
final class EveryHub: Sendable {
  private struct WeakHub {
    weak var hub: EventHub?
  }

  private struct State {
    var hubs: [WeakHub] = []
    var queues: [StreamQueue<ProcessEvent>] = []
  }

  static let shared = EveryHub()

  private let state = Lock(State())

  init() {}

  /// Tells all listeners of the events of a new hub.
  func join(_ hub: EventHub) {
    state.withLock { state in
      state.hubs.removeAll { $0.hub == nil }
      state.hubs.append(WeakHub(hub: hub))
      for queue in state.queues { hub.add(queue) }
    }
  }

  func makeStream(bufferSize: Int) -> AsyncStream<ProcessEvent> {
    let queue = StreamQueue<ProcessEvent>(size: bufferSize, .countsSkipped)
    change { state, hubs in
      state.queues.append(queue)
      for hub in hubs { hub.add(queue) }
    }
    return queue.makeStream { self.remove(queue) }
  }

  private func remove(_ queue: StreamQueue<ProcessEvent>) {
    change { state, hubs in
      state.queues.removeAll { $0 === queue }
      for hub in hubs { hub.remove(queue) }
    }
  }

  private func change(_ body: (inout State, [EventHub]) -> Void) {
    let hubs = state.withLock { state in
      let hubs = state.hubs.compactMap(\.hub)
      body(&state, hubs)
      return hubs
    }
    // The last reference to a hub may be one of these; it ends its streams as it goes.
    withExtendedLifetime(hubs) {}
  }
}

extension StreamQueue.Overflow where Element == ProcessEvent {
  /// ``CacheEvent/skipped(_:)`` stands where events are missing, of whichever caches.
  fileprivate static var countsSkipped: Self {
    .losesNewest { last, lost in
      let lostCount = lost.event.lostCount
      guard case .skipped(let count) = last.event else {
        return ProcessEvent(namespace: "", event: .skipped(lostCount))
      }
      last = ProcessEvent(namespace: "", event: .skipped(count + lostCount))
      return nil
    }
  }
}
