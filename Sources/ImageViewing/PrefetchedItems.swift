/// The items of a list whose images are brought ahead, by their index paths; pure.
///
/// A list says which items to bring, and cancels some. It says nothing of items that it has shown, so the oldest ones
/// leave when there are too many. One image may be at several paths: it leaves with the last of them.
package struct PrefetchedItems<Path: Hashable, Entity> {
  private var items: [(path: Path, entity: Entity)] = []
  private let limit: Int
  private let isSame: (Entity, Entity) -> Bool

  /// - Parameters:
  ///   - limit: How many items stay; those beyond are taken for shown.
  ///   - isSame: Whether both have the same image.
  package init(limit: Int = 200, isSame: @escaping (Entity, Entity) -> Bool) {
    (self.limit, self.isSame) = (limit, isSame)
  }

  /// Adds items at the end, the most urgent first.
  ///
  /// - Returns: What leaves: what was at the same paths, and the oldest items beyond the limit.
  package mutating func insert(_ new: [(path: Path, entity: Entity)]) -> [Entity] {
    let replaced = take(new.map(\.path))
    items += new
    let oldest = items.prefix(max(items.count - limit, 0)).map(\.entity)
    items.removeFirst(oldest.count)
    return (replaced + oldest).filter(isGone)
  }

  /// Removes items.
  ///
  /// - Returns: What was at the paths, whatever the list has there by now.
  package mutating func remove(_ paths: [Path]) -> [Entity] { take(paths).filter(isGone) }

  private mutating func take(_ paths: [Path]) -> [Entity] {
    let paths = Set(paths)
    defer { items.removeAll { paths.contains($0.path) } }
    return items.filter { paths.contains($0.path) }.map(\.entity)
  }

  private func isGone(_ entity: Entity) -> Bool { !items.contains { isSame($0.entity, entity) } }
}
