/// What only those who change a table need to know; it stands behind their lock.
struct TableWriter {
  /// The generation given last in the file on the shelf.
  var generation: UInt64
  var backOff = BackOff()
  /// Slots whose record must go but may still stand in the file, since writing zeros failed.
  var unerased: Set<Int> = []
  var suspension = Suspension()
  /// Bytes that the file on the shelf must have, or somebody has cut it.
  var byteCount: Int

  init(generation: UInt64, byteCount: Int = 0) {
    self.generation = generation
    self.byteCount = byteCount
  }

  /// Begins with another file on the shelf.
  mutating func restart(generation: UInt64, byteCount: Int = 0) {
    let suspension = suspension
    self = TableWriter(generation: generation, byteCount: byteCount)
    self.suspension = suspension
  }
}
