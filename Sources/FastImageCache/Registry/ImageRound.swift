import LoadQueue
import Locking

/// Requests that are given up together, and the answers that their reader has not read.
///
/// No task waits for the answers that it reads: each request is a subscriber in the registry, which the end of the
/// round takes off.
///
/// Invariants:
/// 1. `subscribers` has each subscriber that joined, but those that were read. The registry changes it under its own
///    lock, so no subscriber joins after the end.
/// 2. After the end, nothing is unread and nothing is kept.
final class ImageRound: Sendable {
  typealias Outcome = InFlightRegistry.Outcome

  struct Answer: Sendable {
    let index: Int
    let outcome: Outcome
    var subscriber: SubscriberID?
  }

  private let registry: InFlightRegistry
  private let queue: StreamQueue<Answer>
  /// `nil` after the end.
  private let subscribers = Lock<Set<SubscriberID>?>([])

  init(in registry: InFlightRegistry) {
    self.registry = registry
    queue = StreamQueue()
  }

  /// Begins a load, or joins one.
  func begin(_ index: Int, _ request: ImageRequest, _ priority: Priority) {
    registry.join([request], priority, in: self) {
      [queue] (subscriber, outcome: consuming Outcome) in
      queue.add(Answer(index: index, outcome: outcome, subscriber: subscriber))
      queue.wake()
    }
  }

  /// Adds a subscriber that joins now; false after the end.
  func add(_ subscriber: SubscriberID) -> Bool {
    subscribers.withLock { $0?.insert(subscriber) != nil }
  }

  /// Forgets a subscriber that was answered.
  func remove(_ subscriber: SubscriberID) { subscribers.withLock { _ = $0?.remove(subscriber) } }

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
    if let subscriber = answer.subscriber { remove(subscriber) }
    return answer
  }

  /// Ends all loads that nobody else waits for, and drops the unread answers. May be called again.
  func end() { Self.end([self], in: registry) }

  /// Ends several rounds as one.
  static func end(_ rounds: [ImageRound], in registry: InFlightRegistry) {
    // First the queues: the answers that leaving leads to are not for these readers.
    for round in rounds { round.queue.close() }
    registry.leaveTogether {
      rounds.flatMap { round in
        round.subscribers.withLock { $0.take() ?? [] }
      }
    }
  }
}
