import ImageSources

/// An image that is to be stored, in the order of ``Generation``.
struct StoreOrder: Sendable {
  /// The number of its load, or of its store by hand.
  let begun: Int
  /// The number of the request that it is for.
  let request: Int
  /// Whether what other loads under way bring of the same image is older: the image was stored by hand, or its
  /// source was asked anew.
  let outdatesOthers: Bool
  /// The number at which its source was asked last, 0 for never; `nil` for a store by hand.
  var asked: Int?

  /// Stores an image by hand.
  static func byHand(at number: Int) -> StoreOrder {
    StoreOrder(begun: number, request: number, outdatesOthers: true)
  }
}

/// The last changes of one table's images, which older loads do not undo; pure.
///
/// Invariants:
/// 1. A removal, and an image that outdates others, keep out every image whose load began before; but that of a load
///    none whose source was asked later than its own, and no image by hand whose store began later than that.
/// 2. An image keeps out those of other versions that older requests asked for.
/// 3. A placeholder keeps nothing out.
/// 4. A change is forgotten, at some time, when nothing older than it lives.
struct TableOrder {
  private struct Change {
    /// Loads from before this number store nothing.
    var barrier = 0
    /// The load that set the barrier, and may store once more.
    var owner: Int?
    /// When the source of that load was asked.
    var asked: Int?
    var version: ImageID?
    /// The youngest request for that version.
    var request = 0

    var number: Int { max(barrier, request) }
  }

  private var changes: [ImageID: Change] = [:]
  /// Of all images of the table.
  private var barrier = 0
  /// The number of changes beyond which those that are old are looked for.
  private var limit: Int
  private let leastLimit: Int

  init(limit: Int = 64) { (self.limit, leastLimit) = (limit, limit) }

  /// Whether an image may be stored now, which counts as the last change of its entity then.
  ///
  /// - Parameter oldest: The lowest number that lives; asked now and then.
  mutating func admit(
    _ key: ImageKey, _ order: StoreOrder, isPlaceholder: Bool, oldest: () -> Int
  ) -> Bool {
    var change = changes[key.entity] ?? Change()
    let passes =
      order.begun == change.owner
      || change.asked.map { (order.asked ?? order.begun) > $0 } ?? false
    guard order.begun >= barrier, order.begun >= change.barrier || passes else { return false }
    let isSame = change.version == nil || change.version == key.version
    guard isSame || order.request >= change.request else { return false }
    if isPlaceholder { return true }
    change.request = isSame ? max(change.request, order.request) : order.request
    change.version = key.version
    if order.outdatesOthers {
      (change.barrier, change.owner) = (Generation.next(), order.begun)
      // A load whose entity has answered has asked no source, and is as old as its beginning.
      change.asked = order.asked.map { max($0, order.begun) }
    }
    note(change, of: key.entity, oldest)
    return true
  }

  /// Notes a removal, or `nil` for that of all images.
  mutating func remove(_ entity: ImageID?, at number: Int, oldest: () -> Int) {
    guard let entity else {
      barrier = max(barrier, number)
      return
    }
    let barrier = max(changes[entity]?.barrier ?? 0, number)
    note(Change(barrier: barrier), of: entity, oldest)
  }

  private mutating func note(_ change: Change, of entity: ImageID, _ oldest: () -> Int) {
    changes[entity] = change
    guard changes.count > limit else { return }
    let oldest = oldest()
    changes = changes.filter { $0.value.number > oldest }
    limit = max(leastLimit, changes.count * 2)
  }
}
