#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The state of the writer, behind the writer's lock: the last generation, erasures to do, losses.
///
/// Invariants:
/// 1. A slot in `unerased` has no picture in the index, and its record must not be found again.
/// 2. The record of the slot `erased` is zeros in the file, and the slot is not in `unerased`.
struct TableWriter {
  /// The generation given last. It rises from store to store, across sessions and files of the
  /// table, so that a higher one always belongs to a later store. It begins at the time of day in
  /// microseconds, or above all generations in the file.
  var generation: UInt64
  var backOff = BackOff()
  /// Slots whose record must be erased and may still be in the file.
  private(set) var unerased: Set<Int> = []
  /// The slot erased last, if its record was not written since: the next picture usually goes there
  /// and needs no second erasure.
  private(set) var erased: Int?
  var suspension = Suspension()
  /// The error that lost private pictures when the file became ours; thrown by the next flush.
  var loss: TableError?
  /// True after an attempt to read all records of the file on the shelf.
  var hasReadRecords = false
  /// Bytes that the file on the shelf must have; with fewer it was cut.
  var byteCount: Int

  /// - Parameter shelf: The file and index that are written to.
  init(_ shelf: TableShelf) {
    generation = max(shelf.index.newestGeneration, Self.timeOfDay)
    byteCount = shelf.byteCount
  }

  /// Notes that a slot's record must be erased.
  mutating func noteUnerased(_ slot: Int) {
    unerased.insert(slot)
    if erased == slot { erased = nil }
  }

  /// Notes that a slot's record is zeros in the file.
  mutating func noteErased(_ slot: Int) {
    unerased.remove(slot)
    erased = slot
  }

  /// Notes that a slot's record is about to be written.
  mutating func noteRecord(of slot: Int) {
    if erased == slot { erased = nil }
  }

  /// Starts over for another file on the shelf.
  mutating func restart(_ shelf: TableShelf) {
    var next = TableWriter(shelf)
    next.generation = max(next.generation, generation)
    next.suspension = suspension
    next.loss = loss
    self = next
  }

  /// Microseconds since 1970; 0 for a clock so wrong that too few generations would be left.
  private static var timeOfDay: UInt64 {
    var now = timespec()
    guard clock_gettime(CLOCK_REALTIME, &now) == 0, now.tv_sec >= 0 else { return 0 }
    let (seconds, overflow) = UInt64(now.tv_sec).multipliedReportingOverflow(by: 1_000_000)
    guard !overflow, seconds < SlotRecord.maximumGeneration / 2 else { return 0 }
    return seconds + UInt64(now.tv_nsec / 1000)
  }
}
