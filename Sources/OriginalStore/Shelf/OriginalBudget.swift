import Dispatch
import Locking

/// Bytes that stores share, and the lane on which all of them write.
///
/// The stores of one budget have one lane: so no store takes the room that another has just made, and
/// no original is evicted while its own store changes it. Which of them goes is decided by
/// `RoomPlan`.
///
/// Invariant: at each call to the system, the files of the open stores and the bytes reserved for the
/// file that is being written are at most `byteCount`, unless this was lowered a moment ago, or files
/// appeared by other hands. The next write, or the lowering itself, evicts first.
package final class OriginalBudget: Sendable {
  private struct Member {
    weak var shelf: OriginalShelf?
  }

  private struct State {
    var byteCount: Int
    var members: [Member] = []
    var reserved = 0
    var lastUse: Int64 = .min
  }

  /// Serial: each job changes files of one store and may evict of the others.
  private let lane = DispatchQueue(label: "FastImageCache.originals", qos: .userInitiated)
  private let state: Lock<State>

  package init(byteCount: Int) { state = Lock(State(byteCount: max(0, byteCount))) }

  /// The most bytes that the stores may take together.
  package var byteCount: Int { state.withLock { $0.byteCount } }

  /// The bytes that the open stores take, those of a file that is being written included.
  package var usedByteCount: Int {
    members.reduce(state.withLock { $0.reserved }) { $0 + $1.usedByteCount }
  }

  /// Sets the most bytes, and evicts what exceeds fewer before it returns, also from stores that
  /// nobody has opened; waits for the disk.
  package func setByteCount(_ byteCount: Int) {
    let isLower = state.withLock { state in
      defer { state.byteCount = max(0, byteCount) }
      return byteCount < state.byteCount
    }
    guard isLower else { return }
    lane.sync {
      prepareAll()
      trim()
    }
  }

  // MARK: The lane

  /// Runs a job after those that were given before.
  package func run<Result: Sendable>(_ job: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      let result = Lock<Result?>(nil)
      // Emptied by the lane: what the job retains goes before its caller goes on.
      let work = Lock<(@Sendable () -> Void)?> {
        let value = job()
        result.withLock { $0 = value }
      }
      lane.async {
        work.withLock { $0.take() }?()
        if let value = result.withLock({ $0.take() }) { continuation.resume(returning: value) }
      }
    }
  }

  /// Runs a job some time.
  package func enqueue(_ job: @escaping @Sendable () -> Void) { lane.async(execute: job) }

  func checkLane() { dispatchPrecondition(condition: .onQueue(lane)) }

  // MARK: For shelves

  func join(_ shelf: OriginalShelf) {
    state.withLock { state in
      state.members.removeAll { $0.shelf == nil }
      state.members.append(Member(shelf: shelf))
    }
  }

  /// The moment of a use in microseconds since 1970, later than all moments before it in any of the
  /// stores: the clock may stand still, and be put back.
  func stamp(at now: Int64) -> Int64 {
    state.withLock { state in
      state.lastUse = max(now, state.lastUse &+ 1)
      return state.lastUse
    }
  }

  /// Counts bytes that a file is about to take, until they count as the file's.
  func reserve(_ byteCount: Int) { state.withLock { $0.reserved = byteCount } }

  /// Evicts until so many bytes more fit; evicts nothing and answers false if that is impossible.
  ///
  /// - Parameters:
  ///   - need: Rounded up.
  ///   - shelf: Takes the bytes.
  ///   - key: An original of the shelf that must not go, nor its partial.
  ///   - isPartial: All partials together take a quarter of the budget at most.
  func makeRoom(
    _ need: Int, for shelf: OriginalShelf, sparing key: OriginalDigest? = nil,
    isPartial: Bool = false
  ) -> Bool {
    makeRoom(need, for: shelf, sparing: key, isPartial: isPartial, evenInVain: false)
  }

  /// Evicts what exceeds the budget; indexes that have become empty go too, where it is that small.
  func trim() {
    checkLane()
    guard let first = members.first, !makeRoom(0, for: first, sparing: nil, evenInVain: true) else {
      return
    }
    for member in members where usedByteCount > byteCount { member.removeEmptyIndex() }
  }

  /// Opens all stores and lets each become the owner of its folder where it can: what they have on
  /// disk counts, and may go.
  func prepareAll(but shelf: OriginalShelf? = nil) {
    // A folder that cannot be opened now is none whose originals could be evicted.
    for member in members where member !== shelf && member.isThere { _ = try? member.prepare() }
  }

  // MARK: Private

  private var members: [OriginalShelf] {
    state.withLock { $0.members.compactMap(\.shelf) }
  }

  private func makeRoom(
    _ need: Int, for shelf: OriginalShelf, sparing key: OriginalDigest?, isPartial: Bool = false,
    evenInVain: Bool
  ) -> Bool {
    checkLane()
    let members = members
    guard let own = members.firstIndex(where: { $0 === shelf }) else { return false }
    var spared = members.map { _ in Set<OriginalDigest>() }
    if let key { spared[own].insert(key) }
    let uses = zip(members, spared).map { $0.usage(sparing: $1) }
    let used = uses.reduce(0) { $0 + $1.used }
    var plan = RoomPlan(
      for: need, in: own, budget: .init(byteCount: byteCount, used: used),
      volume: .init(byteCount: need == 0 ? .max : shelf.volumeLimit, used: uses[own].used),
      partials: isPartial
        ? .init(byteCount: byteCount / 4, used: uses.reduce(0) { $0 + $1.partials.used }) : nil)
    let evictable = uses.reduce(0) { $0 + $1.evictable }
    let partials = uses.reduce(0) { $0 + $1.partials.evictable }
    guard
      evenInVain
        || plan.canMakeRoom(evicting: evictable, own: uses[own].evictable, partials: partials)
    else { return false }
    while !plan.hasRoom {
      let heads = zip(members, spared).map { $0.head(sparing: $1) }
      guard let choice = plan.next(among: heads.map { $0?.head }), let victim = heads[choice] else {
        return false
      }
      if members[choice].evict(victim.key, isPartial: victim.head.rank == .partial) {
        plan.note(victim.head, of: choice)
      } else {
        // It stays on the disk, and counts.
        spared[choice].insert(victim.key)
      }
    }
    return true
  }
}
