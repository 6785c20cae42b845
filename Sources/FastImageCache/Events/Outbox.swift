/// What was decided under a lock and is said outside of it, in order, by one thread at a time.
///
/// Resuming a task takes the task's own lock, and a cancellation handler runs under that lock. So
/// whoever yields to a stream, or resumes a continuation, while holding a lock that such a handler
/// takes too will wait for ever one day. This lives inside the lock's value: who has something to
/// say appends it there and then, outside the lock, asks for the next item until there is none.
///
/// Invariants:
/// 1. At most one thread is between a `next` that gave it an item and the `next` that gave it none.
/// 2. Items leave in the order in which they came.
struct Outbox<Item> {
  private var items: [Item] = []
  private var isBeingFlushed = false

  mutating func append(_ item: Item) { items.append(item) }

  /// The next item to say; `nil` when there is none, or when another thread is saying them.
  ///
  /// - Parameter isFlushing: Whether the caller was given an item before and has said it.
  mutating func next(isFlushing: Bool) -> Item? {
    if isBeingFlushed, !isFlushing { return nil }
    isBeingFlushed = !items.isEmpty
    return items.isEmpty ? nil : items.removeFirst()
  }
}
