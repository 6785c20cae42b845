/// Items that are queued under a lock and delivered outside it, in order, by one thread at a time.
///
/// Resuming a task takes the task's own lock, and a cancellation handler runs under that lock. So a
/// thread that yields to a stream, or resumes a continuation, while it holds a lock that such a handler
/// takes too will deadlock one day. An outbox lives inside the lock's value: a thread appends an item
/// under the lock and then, outside it, takes the next item until there is none.
///
/// Invariants:
/// 1. At most one thread is between a `next` that gave it an item and the `next` that gave it none.
/// 2. Items leave in the order in which they came.
struct Outbox<Item> {
  private var items: [Item] = []
  private var isBeingFlushed = false

  mutating func append(_ item: Item) { items.append(item) }

  /// The next item to deliver; `nil` when there is none, or when another thread is delivering them.
  ///
  /// - Parameter isFlushing: Whether the caller was given an item before and has delivered it.
  mutating func next(isFlushing: Bool) -> Item? {
    if isBeingFlushed, !isFlushing { return nil }
    isBeingFlushed = !items.isEmpty
    return items.isEmpty ? nil : items.removeFirst()
  }
}
