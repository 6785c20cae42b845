/// What only those who change a table need to know; it stands behind their lock.
struct TableWriter {
  /// The generation given last in the file on the shelf.
  var generation: UInt64
  var backOff = BackOff()
  /// Slots whose record must go but may still stand in the file, since writing zeros failed.
  var unerased: Set<Int> = []
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
