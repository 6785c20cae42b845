/// What only those who change a table need to know; it stands behind their lock.
///
/// Invariants:
/// 1. A slot in `unerased` has no picture in the index: what its record names must not be found again.
/// 2. The record of the slot `erased` is zeros in the file, and the slot is not in `unerased`.
struct TableWriter {
  /// The generation given last in the file on the shelf.
  var generation: UInt64
  var backOff = BackOff()
  /// Slots whose record must go but may still stand in the file, since writing zeros failed.
  private(set) var unerased: Set<Int> = []
  /// The slot that was erased last, if nothing was written to its record since: the next picture goes
  /// there as a rule, and the zeros before it need not be written twice.
  private(set) var erased: Int?
  var suspension = Suspension()
  /// Bytes that the file on the shelf must have, or somebody has cut it.
  var byteCount: Int

  init(generation: UInt64, byteCount: Int = 0) {
    self.generation = generation
    self.byteCount = byteCount
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
  mutating func restart(generation: UInt64, byteCount: Int = 0) {
    let suspension = suspension
    self = TableWriter(generation: generation, byteCount: byteCount)
    self.suspension = suspension
  }
}
