/// Work on many items, a few at a time.
package enum ConcurrentWork {
  /// Runs `body` for each item, at most `width` at once, and hands each result to `collect`.
  ///
  /// When the calling task is cancelled, items that have not begun are left out.
  ///
  /// - Parameter collect: Called once for each finished item, in the order of their ends, never
  ///   concurrently.
  package static func forEach<Item: Sendable, Result: Sendable>(
    _ items: some Sequence<Item>, width: Int,
    _ body: @escaping @Sendable (Item) async -> Result, collect: (Result) -> Void
  ) async {
    await withTaskGroup(of: Result.self) { group in
      var remaining = Array(items)[...]
      for _ in 0..<max(width, 1) {
        guard let item = remaining.popFirst() else { break }
        group.addTask { await body(item) }
      }
      while let result = await group.next() {
        collect(result)
        guard !Task.isCancelled, let item = remaining.popFirst() else { continue }
        group.addTask { await body(item) }
      }
    }
  }
}
