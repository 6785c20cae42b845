import Locking

/// The unread events of one listener.
///
/// Not the buffer of an `AsyncStream`, which tells nobody how full it is: the number of lost events
/// has to find room when the buffer has none, also at the end of all.
///
/// Invariants:
/// 1. At most `size` events are unread, and behind them the number of those that found no room.
/// 2. Somebody waits only while nothing is unread; who takes a reader out, under the lock, resumes it,
///    outside the lock.
final class EventQueue: Sendable {
  private struct State {
    /// Those before `readCount` were read; they go when they are the greater part, so that reading
    /// does not move all others each time.
    private var items: [CacheEvent] = []
    private var readCount = 0
    var readers: [CheckedContinuation<CacheEvent?, Never>] = []
    var isFinished = false

    mutating func takeFirst() -> CacheEvent? {
      guard readCount < items.count else { return nil }
      defer {
        readCount += 1
        if readCount * 2 > items.count {
          items.removeFirst(readCount)
          readCount = 0
        }
      }
      return items[readCount]
    }

    mutating func keep(_ event: CacheEvent, size: Int) {
      guard items.count - readCount >= size else { return items.append(event) }
      if case .skipped(let count)? = items.last {
        items[items.count - 1] = .skipped(count + 1)
      } else {
        items.append(.skipped(1))
      }
    }
  }

  private let size: Int
  private let state = Lock(State())

  init(size: Int) { self.size = size }

  /// Keeps an event or counts it as lost; nothing after the end.
  func append(_ event: CacheEvent) {
    let reader = state.withLock { state -> CheckedContinuation<CacheEvent?, Never>? in
      if state.isFinished { return nil }
      if !state.readers.isEmpty { return state.readers.removeFirst() }
      state.keep(event, size: size)
      return nil
    }
    SanitizerWitness.willResume(at: self)
    reader?.resume(returning: event)
  }

  /// Ends the queue after what it holds.
  func finish() {
    let readers = state.withLock { state in
      state.isFinished = true
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.resume(returning: nil) }
  }

  /// The oldest unread event, waiting for one if need be; `nil` at the end.
  func next() async -> CacheEvent? {
    defer { SanitizerWitness.didResume(at: self) }
    return await withCheckedContinuation { continuation in
      let (event, isAnswer) = state.withLock { state -> (CacheEvent?, Bool) in
        if let event = state.takeFirst() { return (event, true) }
        if !state.isFinished { state.readers.append(continuation) }
        return (nil, state.isFinished)
      }
      if isAnswer { continuation.resume(returning: event) }
    }
  }
}
