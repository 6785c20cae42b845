#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What only those who change a table need to know; it stands behind their lock.
///
/// Invariants:
/// 1. A slot in `unerased` has no picture in the index: what its record names must not be found again.
/// 2. The record of the slot `erased` is zeros in the file, and the slot is not in `unerased`.
struct TableWriter {
  /// The generation given last. It rises from store to store, in later sessions and in other files of
  /// the table too, so that a higher one always belongs to a later store: it begins at the time of
  /// day in microseconds, or above all that is in the file.
  var generation: UInt64
  var backOff = BackOff()
  /// Slots whose record must go but may still stand in the file, since writing zeros failed.
  private(set) var unerased: Set<Int> = []
  /// The slot that was erased last, if nothing was written to its record since: the next picture goes
  /// there as a rule, and the zeros before it need not be written twice.
  private(set) var erased: Int?
  var suspension = Suspension()
  /// Why pictures were lost that had been stored while the file was another's; for the next flush.
  var loss: TableError?
  /// Whether all records of the file on the shelf were read, as far as they could be.
  var hasReadRecords = false
  /// Bytes that the file on the shelf must have, or somebody has cut it.
  var byteCount: Int

  /// - Parameter shelf: What is written to.
  init(_ shelf: TableShelf) {
    generation = max(shelf.index.newestGeneration, Self.timeOfDay)
    byteCount = shelf.byteCount
  }

  /// Notes that a slot's record has to go; until `noteErased(_:)` it may stand in the file.
  mutating func noteUnerased(_ slot: Int) {
    unerased.insert(slot)
    if erased == slot { erased = nil }
  }

  /// Notes that a slot's record is zeros in the file.
  mutating func noteErased(_ slot: Int) {
    unerased.remove(slot)
    erased = slot
  }

  /// Notes that a slot is going to have a record, whether writing it succeeds or not.
  mutating func noteRecord(of slot: Int) {
    if erased == slot { erased = nil }
  }

  /// Begins with another file on the shelf.
  mutating func restart(_ shelf: TableShelf) {
    var next = TableWriter(shelf)
    next.generation = max(next.generation, generation)
    next.suspension = suspension
    next.loss = loss
    self = next
  }

  /// Microseconds since 1970, which are fewer than there are generations.
  private static var timeOfDay: UInt64 {
    var now = timespec()
    guard clock_gettime(CLOCK_REALTIME, &now) == 0, now.tv_sec >= 0 else { return 0 }
    let (seconds, overflow) = UInt64(now.tv_sec).multipliedReportingOverflow(by: 1_000_000)
    // A clock that is so wrong would leave too few for what is stored.
    guard !overflow, seconds < SlotRecord.maximumGeneration / 2 else { return 0 }
    return seconds + UInt64(now.tv_nsec / 1000)
  }
}
