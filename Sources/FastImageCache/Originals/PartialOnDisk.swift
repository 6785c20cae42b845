import Foundation
import Locking
import OriginalStore

/// One load's part in the partial of its original that a store has, or will have.
///
/// Whole blocks of what arrives are copied to the disk, on the store's lane. The network never waits for
/// it. A picture of less than a block costs no call.
///
/// Invariants:
/// 1. One job of the load at most waits for the lane to write. It writes one block, so that other jobs
///    come between.
/// 2. The last job of the load is the one that ends its part.
/// 3. Nothing is written unless a later load may continue it, and the server allows it to be kept.
final class PartialOnDisk: Sendable {
  private struct State {
    var lastArrival = 0
    /// A job waits for the lane.
    var isWriting = false
    /// What has grown since that job was begun; it may be a newer arrival than the job's.
    var next: Arrival?
    /// The store may have something of this load.
    var isUsed = false
    /// No further block is written.
    var isStopped = false
  }

  let load: OriginalLoad
  private let shelf: OriginalShelf
  private let key: OriginalKey
  private let entity: ImageID
  private let headers: [String: String]
  private let state = Lock(State())

  /// - Parameter headers: The fields that the load asks for.
  init(
    of key: OriginalKey, for entity: ImageID, _ load: OriginalLoad, with headers: [String: String],
    on shelf: OriginalShelf
  ) {
    (self.key, self.entity, self.load) = (key, entity, load)
    (self.headers, self.shelf) = (headers, shelf)
  }

  /// What earlier loads have left; from now on no other load gets it.
  func known() async -> KnownOriginal? {
    guard shelf.mayHavePartial(key) else { return nil }
    state.withLock { $0.isUsed = true }
    let found = await shelf.budget.run { [shelf, key, load] in shelf.takePartial(key, for: load) }
    guard let found, let terms = OriginalTerms(encoded: found.facts.terms),
      let total = terms.byteCount, found.bytes.count <= total
    else { return nil }
    return KnownOriginal(
      terms: terms, bytes: found.bytes, isWhole: found.bytes.count == total)
  }

  /// Notes that another arrival of the load begins.
  ///
  /// - Returns: What takes its blocks; `nil` where none may be written.
  func begin(_ terms: OriginalTerms) -> ArrivalBlocks? {
    let number = state.withLock { state in
      state.lastArrival += 1
      return state.lastArrival
    }
    var terms = terms
    terms.recordRequest(headers)
    guard let byteCount = terms.byteCount, byteCount >= PartialFile.blockByteCount,
      terms.mayBeContinued, terms.mayBeKept
    else { return nil }
    let facts = OriginalFacts(
      entity: entity.tableID, terms: terms.encoded(), stored: shelf.now / 1_000_000)
    return ArrivalBlocks(
      disk: self, key: key, facts: facts, byteCount: byteCount, number: number)
  }

  /// Writes no further block, since all bytes are there: what is missing is written with the whole.
  func stop() {
    // The arrival leads back here.
    state.withLock { ($0.isStopped, $0.next) = (true, nil) }
  }

  /// Ends the load's part, behind what it has on the lane.
  ///
  /// - Parameter arrival: What a later load may continue; `nil` where nothing is left of it.
  func end(keeping arrival: Arrival?) {
    // A job that came again behind the last one would begin anew what that one has ended.
    stop()
    guard state.withLock({ $0.isUsed }) else { return }
    let keeps = arrival.map(Self.keeps) ?? false
    let (shelf, key, load) = (shelf, key, load)
    shelf.budget.enqueue {
      if keeps, let source = arrival?.source {
        while shelf.writeBlock(of: source, for: load) {}
      }
      shelf.endPartial(key, of: load, keeps: keeps)
    }
  }

  /// Whether the blocks on disk are of this arrival, and worth something.
  private static func keeps(_ arrival: Arrival) -> Bool {
    arrival.terms.mayBeContinued && arrival.terms.mayBeKept
      && arrival.byteCount >= PartialFile.blockByteCount
  }

  // MARK: Blocks

  /// Has the blocks of an arrival written that are whole now; returns at once.
  fileprivate func write(_ arrival: Arrival) {
    let begins = state.withLock { state in
      if state.isStopped { return false }
      state.isUsed = true
      if state.isWriting { state.next = arrival }
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if begins { enqueue(arrival) }
  }

  private func enqueue(_ arrival: Arrival) {
    guard let source = arrival.source else { return }
    shelf.budget.enqueue { [self] in
      guard !state.withLock({ $0.isStopped }) else { return }
      let hasWritten = shelf.writeBlock(of: source, for: load)
      let next = state.withLock { state in
        let next = state.next ?? (hasWritten ? arrival : nil)
        (state.next, state.isWriting) = (nil, next != nil)
        return next
      }
      if let next { enqueue(next) }
    }
  }
}

/// Takes the blocks of one arrival to the disk.
struct ArrivalBlocks: Sendable {
  fileprivate let disk: PartialOnDisk
  fileprivate let key: OriginalKey
  fileprivate let facts: OriginalFacts
  fileprivate let byteCount: Int
  fileprivate let number: Int

  /// For the store that gets the whole original.
  var use: PartialUse { PartialUse(disk.load, arrival: number) }

  /// Notes that an arrival has grown.
  ///
  /// - Parameter counts: Its bytes before and now.
  func note(_ counts: (before: Int, now: Int), of arrival: Arrival) {
    let size = PartialFile.blockByteCount
    if counts.now / size > counts.before / size { disk.write(arrival) }
  }
}

extension Arrival {
  fileprivate var source: ArrivalSource? {
    blocks.map { ArrivalSource(arrival: self, blocks: $0) }
  }
}

/// An arrival as the store sees it.
private struct ArrivalSource: PartialSource {
  let source: Arrival
  let blocks: ArrivalBlocks

  init(arrival: Arrival, blocks: ArrivalBlocks) { (source, self.blocks) = (arrival, blocks) }

  var key: OriginalKey { blocks.key }
  var facts: OriginalFacts { blocks.facts }
  var byteCount: Int { blocks.byteCount }
  var arrival: Int { blocks.number }

  func block(_ number: Int) -> Data? {
    let size = PartialFile.blockByteCount
    return source.copy(number * size..<(number + 1) * size)
  }

  func isVersion(of terms: [UInt8]) -> Bool {
    guard let known = OriginalTerms(encoded: terms), let own = OriginalTerms(encoded: facts.terms)
    else { return false }
    return known.strongValidator == own.strongValidator && known.byteCount == own.byteCount
      && known.origin == own.origin && known.requestDigest == own.requestDigest
  }
}
