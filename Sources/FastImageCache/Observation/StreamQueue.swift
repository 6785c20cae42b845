import Locking

/// The unread elements of one stream.
///
/// The buffer of an `AsyncStream` would not do: it does not tell how full it is, and it hands its
/// elements to a reader that was cancelled.
///
/// Invariants:
/// 1. At most `size` elements are unread; the oldest makes room.
/// 2. A reader waits only while no element is unread. The thread that takes a reader out, under the
///    lock, resumes it, outside the lock.
/// 3. A cancelled reader gets no element.
/// 4. An element that lasts, of which at most one is unread, is lost to no other than one that ends its worth.
final class StreamQueue<Element: Sendable>: Sendable {
  /// An element that a queue of the newest does not lose to the others.
  struct Lasting: Sendable {
    let holds: @Sendable (Element) -> Bool
    /// Whether an element ends the worth of the one that lasts; another one that lasts does.
    let ends: @Sendable (Element) -> Bool
  }

  private struct State {
    /// The first `readCount` items were read and are `nil`, since an element may hold a lease. They are
    /// removed once they are the greater part, so that not every read moves all others.
    private var items: [Element?] = []
    private var readCount = 0
    var readers: [CheckedContinuation<Element?, Never>] = []
    var isFinished = false

    mutating func takeFirst() -> Element? {
      guard readCount < items.count else { return nil }
      defer {
        readCount += 1
        if readCount * 2 > items.count {
          items.removeFirst(readCount)
          readCount = 0
        }
      }
      return items[readCount].take()
    }

    mutating func takeAll() -> [Element] {
      defer { (items, readCount) = ([], 0) }
      return items.compactMap(\.self)
    }

    /// Takes out the oldest unread element that lasts, or that does not.
    private mutating func takeFirst(_ lasting: Lasting, lasts: Bool) -> Element? {
      let index = items[readCount...].firstIndex { $0.map { lasting.holds($0) == lasts } ?? false }
      return index.flatMap { items.remove(at: $0) }
    }

    /// - Returns: The elements that are lost, for release outside the lock.
    mutating func keep(
      _ element: consuming Element, size: Int, _ lasting: Lasting?
    ) -> [Element] {
      var lost: [Element] = []
      if let lasting, lasting.ends(element) {
        lost += takeFirst(lasting, lasts: true).map { [$0] } ?? []
      }
      guard items.count - readCount >= size else {
        items.append(element)
        return lost
      }
      if let oldest = lasting.map({ takeFirst($0, lasts: false) }) ?? takeFirst() {
        lost.append(oldest)
      }
      items.append(element)
      return lost
    }
  }

  private let size: Int
  private let lasting: Lasting?
  private let state = Lock(State())

  /// - Parameters:
  ///   - size: Unread elements that are kept, at least one; at least two where one of them lasts.
  ///   - lasting: The element that is not lost.
  init(size: Int, lasting: Lasting? = nil) {
    self.size = size
    self.lasting = lasting
  }

  /// Hands an element to a waiting reader, or keeps it as far as there is room; drops it after the end.
  ///
  /// The element is moved all the way: when a reader goes on with it, no reference to it is left here.
  func append(_ element: consuming Element) {
    var element = Optional(consume element)
    let (reader, lost) = take(&element)
    guard let reader else { return withExtendedLifetime(lost) {} }
    SanitizerWitness.willResume(at: self)
    reader.resume(returning: element.take())
  }

  /// Takes an element as ``append(_:)`` does, perhaps under a lock of the caller's, which gives elements of several
  /// threads an order. A cancelled reader may come for that lock from under its task's: so it is resumed outside.
  func put(_ element: Element) -> Delivery {
    var element = Optional(element)
    let (reader, lost) = take(&element)
    return Delivery(queue: self, reader: reader, element: element, lost: lost)
  }

  /// The part of ``put(_:)`` that no lock is held for.
  struct Delivery {
    fileprivate let queue: StreamQueue
    fileprivate let reader: CheckedContinuation<Element?, Never>?
    fileprivate let element: Element?
    fileprivate let lost: [Element]

    /// Resumes the reader, if one has waited. To be called once.
    func end() {
      guard let reader else { return }
      SanitizerWitness.willResume(at: queue)
      reader.resume(returning: element)
    }
  }

  /// Keeps an element, unless a reader waits for it, to whom the caller gives it, or the queue has ended.
  private func take(
    _ element: inout Element?
  ) -> (reader: CheckedContinuation<Element?, Never>?, lost: [Element]) {
    state.withLock { state in
      if state.isFinished { return (nil, []) }
      if !state.readers.isEmpty { return (state.readers.removeFirst(), []) }
      guard let element = element.take() else { return (nil, []) }
      return (nil, state.keep(consume element, size: size, lasting))
    }
  }

  /// Ends the queue; its unread elements can still be read.
  func finish() { end { _ in [] } }

  /// Ends the queue and drops its unread elements.
  func close() { end { $0.takeAll() } }

  private func end(_ drop: (inout State) -> [Element]) {
    // Dropped elements are released outside the lock: they may hold the last lease on a slot.
    let (readers, dropped) = state.withLock { state in
      state.isFinished = true
      defer { state.readers = [] }
      return (state.readers, drop(&state))
    }
    for reader in readers { reader.resume(returning: nil) }
    withExtendedLifetime(dropped) {}
  }

  /// The oldest unread element, if there is one at this moment.
  func takeUnread() -> Element? { state.withLock { $0.takeFirst() } }

  /// The oldest unread element, waiting for one if need be; `nil` at the end and for a cancelled task.
  func next() async -> Element? {
    defer { SanitizerWitness.didResume(at: self) }
    let element = await withCheckedContinuation { continuation in
      let (element, isAnswer) = state.withLock { state -> (Element?, Bool) in
        if let element = state.takeFirst() { return (element, true) }
        if !state.isFinished { state.readers.append(continuation) }
        return (nil, state.isFinished)
      }
      if isAnswer { continuation.resume(returning: element) }
    }
    // Last of all: the task may have been cancelled while the element was on its way to it.
    return Task.isCancelled ? nil : element
  }
}

// MARK: Streams

extension StreamQueue {
  /// Lives as long as a stream can be iterated.
  private final class Interest: Sendable {
    let queue: StreamQueue
    private let end: @Sendable () -> Void

    init(in queue: StreamQueue, end: @escaping @Sendable () -> Void) {
      self.queue = queue
      self.end = end
    }

    deinit { end() }
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
    let queue = StreamQueue(size: 1)
    queue.append(element)
    queue.finish()
    return queue.makeStream {}
  }
}
