import LoadQueue
import Locking

/// The requests of one reader for many images, and the answers that it has not read.
///
/// No task waits for the answers: each request is a waiter on the board, which the end of the round takes
/// off.
///
/// Invariants:
/// 1. A waiter that is not in `waiters` has been read or is off the board, but for the moment in which
///    ``begin(_:_:_:)`` finds the round ended and takes it off.
/// 2. After the end, nothing is unread and nothing is kept.
final class ImageRound: Sendable {
  typealias Outcome = InFlightRegistry.Outcome

  struct Answer: Sendable {
    let index: Int
    let outcome: Outcome
  }

  private let registry: InFlightRegistry
  private let queue: StreamQueue<Answer>
  /// The requests that were not read, by their index; `nil` after the end.
  private let waiters = Lock<[Int: WaiterID]?>([:])

  init(in registry: InFlightRegistry) {
    self.registry = registry
    queue = StreamQueue()
  }

  /// Begins a load, or joins one.
  func begin(_ index: Int, _ request: ImageRequest, _ priority: Priority) {
    let waiter = request.waiter
    waiters.withLock { $0?[index] = waiter }
    registry.join([request], priority) { [queue] (_, outcome: consuming Outcome) in
      queue.add(Answer(index: index, outcome: outcome))
      queue.wake()
    }
    // An end that came before the waiter joined found no waiter to take off.
    if waiters.withLock({ $0 == nil }) { registry.leave(waiter) }
  }

  /// Answers a request that needs no load.
  func answer(_ index: Int, _ outcome: Outcome) {
    queue.add(Answer(index: index, outcome: outcome))
    queue.wake()
  }

  /// The oldest unread answer, if there is one at this moment.
  func takeUnread() -> Answer? { queue.takeUnread().map(taken) }

  /// The oldest unread answer, waiting for one if need be; `nil` after the end.
  ///
  /// A cancellation of the calling task ends the round at once.
  func next() async -> Answer? {
    let answer = await withTaskCancellationHandler {
      await queue.next()
    } onCancel: {
      end()
    }
    return answer.map(taken)
  }

  private func taken(_ answer: consuming Answer) -> Answer {
    let index = answer.index
    waiters.withLock { _ = $0?.removeValue(forKey: index) }
    return answer
  }

  /// Ends all loads that nobody else waits for, and drops the unread answers. May be called again.
  func end() {
    let left = waiters.withLock { waiters in
      defer { waiters = nil }
      return waiters ?? [:]
    }
    // First the queue: the answers that leaving leads to are not for this reader.
    queue.close()
    for waiter in left.values { registry.leave(waiter) }
  }
}
