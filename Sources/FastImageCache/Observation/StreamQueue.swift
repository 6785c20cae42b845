import Locking

/// The unread elements of one reader, which a stream of signals wakes.
///
/// The elements are not in that stream: it would hand them to a reader that was cancelled, and one that is sent late
/// could take the place of the last one.
///
/// Invariants:
/// 1. An element is added or taken under the lock. The reader is woken outside of it.
/// 2. Nothing is added after the end, so the last element stays the last.
/// 3. A cancelled reader gets no element.
final class StreamQueue<Element: Sendable>: Sendable {
  private struct State {
    var unread: [Element] = []
    /// Worth nothing any more; released outside of all locks, for they may hold the last lease on a slot.
    var superseded: [Element] = []
    var isFinished = false

    mutating func add(_ new: inout Element?, _ supersedes: Supersedes) {
      guard !isFinished, let new = new.take() else { return }
      if unread.contains(where: { supersedes(new, $0) }) {
        superseded += unread.filter { supersedes(new, $0) }
        unread.removeAll { supersedes(new, $0) }
      }
      unread.append(new)
    }
  }

  /// Lives as long as a stream can be iterated.
  private final class Interest: Sendable {
    let queue: StreamQueue
    private let end: @Sendable () -> Void

    init(in queue: StreamQueue, end: @escaping @Sendable () -> Void) {
      (self.queue, self.end) = (queue, end)
    }

    deinit { end() }
  }

  typealias Supersedes = @Sendable (_ new: Element, _ unread: Element) -> Bool

  private let supersedes: Supersedes
  private let state = Lock(State())
  private let (signals, signal) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// - Parameter supersedes: Whether an unread element is worth nothing after a new one.
  init(supersedes: @escaping Supersedes = { _, _ in false }) { self.supersedes = supersedes }

  /// Adds an element, perhaps under a lock of the caller's, which wakes the reader outside of it: a reader that is
  /// cancelled may come for that lock from under its task's.
  ///
  /// The element is moved all the way: when the reader goes on with it, no reference to it is left here.
  func add(_ element: consuming Element) {
    var element = Optional(consume element)
    state.withLock { $0.add(&element, supersedes) }
  }

  /// Has the reader look for unread elements.
  func wake() {
    release(isLast: false)
    signal.yield()
  }

  /// Ends the queue; its unread elements can still be read.
  func finish() {
    release(isLast: true)
    signal.finish()
  }

  /// Ends the queue and drops its unread elements.
  func close() {
    let former = state.withLock { state in
      defer { state = State(isFinished: true) }
      return state
    }
    signal.finish()
    withExtendedLifetime(former) {}
  }

  /// Releases superseded elements. No other element is referred to here: its reader may have it already.
  private func release(isLast: Bool) {
    let superseded = state.withLock { state in
      if isLast { state.isFinished = true }
      defer { state.superseded = [] }
      return state.superseded
    }
    withExtendedLifetime(superseded) {}
  }

  /// The oldest unread element, if there is one at this moment.
  func takeUnread() -> Element? {
    state.withLock { $0.unread.isEmpty ? nil : $0.unread.removeFirst() }
  }

  /// The oldest unread element, waiting for one if need be; `nil` at the end and for a cancelled task.
  func next() async -> Element? {
    var iterator = signals.makeAsyncIterator()
    var isOver = false
    while !Task.isCancelled {
      if let element = takeUnread() {
        // Of several readers another one may wait, and have had no signal of its own.
        wake()
        return element
      }
      if isOver { return nil }
      isOver = await iterator.next() == nil
    }
    return nil
  }

  /// The stream of this queue's elements.
  ///
  /// - Parameter end: Called when the reading task is cancelled, and when the stream can no longer be
  ///   read; so perhaps twice.
  func makeStream(onEnd end: @escaping @Sendable () -> Void) -> AsyncStream<Element> {
    let interest = Interest(in: self, end: end)
    return AsyncStream {
      await interest.queue.next()
    } onCancel: {
      // First the queue: an answer that `end` leads to is not for this reader.
      self.close()
      end()
    }
  }

  /// A stream of one element.
  static func stream(of element: consuming Element) -> AsyncStream<Element> {
    let queue = StreamQueue()
    queue.add(element)
    queue.finish()
    return queue.makeStream {}
  }
}
