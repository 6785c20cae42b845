import LoadQueue
import Locking

/// The requests of one reader for many images, and the answers that it has not read.
///
/// No task waits for the answers: each request is a subscriber in the registry, which the end of the round takes
/// off.
///
/// Invariants:
/// 1. A subscriber that is not in `subscribers` has been read or is out of the registry, but for the moment in which
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
  private let subscribers = Lock<[Int: SubscriberID]?>([:])

  init(in registry: InFlightRegistry) {
    self.registry = registry
    queue = StreamQueue()
  }

  /// Begins a load, or joins one.
  func begin(_ index: Int, _ request: ImageRequest, _ priority: Priority) {
    let subscriber = request.subscriber
    subscribers.withLock { $0?[index] = subscriber }
    registry.join([request], priority) { [queue] (_, outcome: consuming Outcome) in
      queue.add(Answer(index: index, outcome: outcome))
      queue.wake()
    }
    // An end that came before the subscriber joined found no subscriber to take off.
    if subscribers.withLock({ $0 == nil }) { registry.leave(subscriber) }
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
    subscribers.withLock { _ = $0?.removeValue(forKey: index) }
    return answer
  }

  /// Ends all loads that nobody else waits for, and drops the unread answers. May be called again.
  func end() {
    let left = subscribers.withLock { subscribers in
      defer { subscribers = nil }
      return subscribers ?? [:]
    }
    // First the queue: the answers that leaving leads to are not for this reader.
    queue.close()
    for subscriber in left.values { registry.leave(subscriber) }
  }
}
