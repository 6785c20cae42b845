/// Items that are queued under a lock and delivered outside it, in order, by one thread at a time.
///
/// Resuming a task takes the task's own lock, and a cancellation handler runs under that lock. So a
/// thread that yields to a stream, or resumes a continuation, while it holds a lock that such a handler
/// takes too will deadlock one day. An outbox lives inside the lock's value: a thread appends an item
/// under the lock and then, outside it, takes the next item until there is none.
///
/// Other threads may append faster than one delivers. So a thread has a turn, and leaves the rest to a task: a
/// row that begins to listen to a load is not kept by the load's source. What an owner can do without it leaves out
/// while the outbox is crowded.
///
/// Invariants:
/// 1. At most one thread is between a `next` that gave it an item and the `next` that gave it none. A task that
///    takes over stands for the thread.
/// 2. Items leave in the order in which they came.
struct Outbox<Item> {
  /// The first `deliveredCount` items were delivered and are `nil`. They are removed once they are the greater part,
  /// so that not every delivery moves all others.
  private var items: [Item?] = []
  private var deliveredCount = 0
  private var isBeingFlushed = false

  /// Items that are not delivered yet.
  var count: Int { items.count - deliveredCount }

  /// Whether so many items wait that more of them would take memory for nothing.
  var isCrowded: Bool { count >= 1024 }

  /// The item that was appended last, if it waits.
  var last: Item? {
    get { count > 0 ? items[items.count - 1] : nil }
    set { if count > 0 { items[items.count - 1] = newValue } }
  }

  mutating func append(_ item: Item) { items.append(item) }

  /// The next item to deliver; `nil` when there is none, or when another thread is delivering them.
  ///
  /// - Parameter isFlushing: Whether the caller was given an item before and has delivered it.
  mutating func next(isFlushing: Bool) -> Item? {
    if isBeingFlushed, !isFlushing { return nil }
    isBeingFlushed = count > 0
    guard isBeingFlushed else { return nil }
    defer {
      deliveredCount += 1
      if deliveredCount * 2 > items.count {
        items.removeFirst(deliveredCount)
        deliveredCount = 0
      }
    }
    return items[deliveredCount].take()
  }
}

/// Delivers what stands in an ``Outbox``.
protocol OutboxOwner: AnyObject, Sendable {
  /// Takes the next item and delivers it; false if there was none.
  func deliverNext(isFlushing: Bool) -> Bool

  /// Items that wait.
  var waitingCount: Int { get }
}

extension OutboxOwner {
  /// Items that one thread delivers before it looks how many wait.
  static var turnLength: Int { 64 }

  /// Delivers the queued items, unless another thread is delivering them.
  func flush() { flush(isFlushing: false) }

  private func flush(isFlushing: Bool) {
    var isFlushing = isFlushing
    func deliver(_ count: Int) -> Bool {
      for _ in 0..<count {
        guard deliverNext(isFlushing: isFlushing) else { return false }
        isFlushing = true
      }
      return true
    }
    // The second part delivers what waits after the first, and finds the end. So a report to many listeners waits
    // for no task, and leaves none that would keep the next report waiting.
    guard deliver(Self.turnLength), deliver(waitingCount + 1) else { return }
    Task.detached(priority: .high) { [self] in flush(isFlushing: true) }
  }
}
