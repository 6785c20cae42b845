import Synchronization

/// The order of all requests, removals and stores by hand of this process.
///
/// Each takes a number at its call. A load has the number of the request that began it. Whoever changes a table, or
/// joins a load, compares numbers and never moments.
enum Generation {
  /// The number of a removal, and the lowest number of a load or store that lived then.
  struct Removal: Sendable {
    let number: Int
    let oldest: Int
  }

  private static let last = Atomic(0)

  /// A number that is higher than all before it.
  static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
