/// The items of a list whose images are brought ahead, by their index paths; pure.
///
/// A list says which items to bring, and cancels some. It says nothing of items that it has shown, so the oldest ones
/// leave when there are too many.
package struct PrefetchedItems<Path: Hashable, Entity> {
  private var items: [(path: Path, entity: Entity)] = []
  private let limit: Int

  /// - Parameter limit: How many items stay; those beyond are taken for shown.
  package init(limit: Int = 200) { self.limit = limit }

  /// Adds items at the end, the most urgent first.
  ///
  /// - Returns: What leaves: what was at the same paths, which has another turn, and the oldest items beyond the limit.
  package mutating func insert(_ new: [(path: Path, entity: Entity)]) -> [Entity] {
    let leaving = remove(new.map(\.path))
    items += new
    let excess = max(items.count - limit, 0)
    defer { items.removeFirst(excess) }
    return leaving + items.prefix(excess).map(\.entity)
  }

  /// Removes items.
  ///
  /// - Returns: What was at the paths, whatever the list has there by now.
  package mutating func remove(_ paths: [Path]) -> [Entity] {
    let paths = Set(paths)
    defer { items.removeAll { paths.contains($0.path) } }
    return items.filter { paths.contains($0.path) }.map(\.entity)
  }
}
