/// Decides which originals make room for a new file, of several stores that share a budget.
///
/// ```
/// var plan = RoomPlan(…)
/// while let victim = plan.next(among: heads) { /* evict it */ plan.note(heads[victim]) }
/// ```
///
/// Three limits hold at once: the budget for all stores, the part of the volume for the store that
/// takes the file, and the part of the budget for partials. An original is evicted only if a limit to
/// which it counts is exceeded.
///
/// Invariant: between stores, the lowest rank goes first, and within a rank the oldest use. Each head
/// is the first to go of its store, so the order holds over all stores.
struct RoomPlan {
  /// The first to go of one store.
  struct Head: Hashable {
    let rank: OriginalIndex.Rank
    let lastUse: Int64
    /// Rounded up.
    let byteCount: Int
  }

  /// Bytes that may be used, of which some are in use.
  struct Limit: Hashable {
    let byteCount: Int
    let used: Int
  }

  /// The bytes still missing for each limit; room is there when none is above 0.
  private var missing: Int
  private var missingOnVolume: Int
  private var missingForPartials: Int
  /// The store that takes the file.
  private let store: Int

  /// - Parameters:
  ///   - need: The bytes to be written, rounded up.
  ///   - partials: The limit for partials, if the file is one.
  init(for need: Int, in store: Int, budget: Limit, volume: Limit, partials: Limit? = nil) {
    func missing(_ limit: Limit) -> Int {
      // Neither sum overflows, however large a limit was set.
      max(0, need - (limit.byteCount - limit.used))
    }
    self.store = store
    self.missing = missing(budget)
    missingOnVolume = missing(volume)
    missingForPartials = partials.map(missing) ?? 0
  }

  var hasRoom: Bool { missing == 0 && missingOnVolume == 0 && missingForPartials == 0 }

  /// True if evicting everything evictable would make room; nothing is evicted in vain.
  ///
  /// - Parameters:
  ///   - all: The bytes of all stores that may be evicted.
  ///   - own: Those of the store that takes the file.
  ///   - partials: The partials among the bytes of all stores.
  func canMakeRoom(evicting all: Int, own: Int, partials: Int) -> Bool {
    missing <= all && missingOnVolume <= own && missingForPartials <= partials
  }

  /// The store whose head goes next; `nil` when there is room, and when nothing more helps.
  ///
  /// - Parameter heads: For each store the first that is not being read.
  func next(among heads: [Head?]) -> Int? {
    var choice: (store: Int, head: Head)?
    for (index, head) in heads.enumerated() {
      guard let head, helps(head, of: index) else { continue }
      if let best = choice?.head, (best.rank, best.lastUse) <= (head.rank, head.lastUse) {
        continue
      }
      choice = (index, head)
    }
    return choice?.store
  }

  /// Notes that a store's head was evicted.
  mutating func note(_ head: Head, of index: Int) {
    missing = max(0, missing - head.byteCount)
    if index == store { missingOnVolume = max(0, missingOnVolume - head.byteCount) }
    if head.rank == .partial { missingForPartials = max(0, missingForPartials - head.byteCount) }
  }

  private func helps(_ head: Head, of index: Int) -> Bool {
    missing > 0 || (missingOnVolume > 0 && index == store)
      || (missingForPartials > 0 && head.rank == .partial)
  }

  /// The bytes that a file of so many takes on the disk.
  static func rounded(_ byteCount: Int) -> Int { (byteCount + 4095) & ~4095 }
}

extension OriginalIndex {
  /// What a plan has to know of the original at a place.
  func head(_ place: Int) -> RoomPlan.Head {
    let record = self[place]
    return RoomPlan.Head(
      rank: record.rank, lastUse: record.lastUse, byteCount: record.roundedByteCount)
  }
}
