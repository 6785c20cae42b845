/// Two stores that share a budget, as plain lists: which originals are there, and which go first.
struct OriginalSoakModel {
  struct Original {
    let version: Int
    /// Rounded up.
    let byteCount: Int
    var use: Int
  }

  /// Of few records.
  private static let indexByteCount = 4096

  private(set) var stores: [[Int: Original]] = [[:], [:]]
  private(set) var byteCount: Int
  private var lastUse = 0

  init(byteCount: Int) { self.byteCount = byteCount }

  var usedByteCount: Int {
    stores.reduce(0) { sum, store in
      store.values.reduce(sum + Self.indexByteCount) { $0 + $1.byteCount }
    }
  }

  /// - Parameter fileByteCount: With its trailer, not rounded.
  mutating func keep(_ number: Int, _ version: Int, in store: Int, fileByteCount: Int) {
    let need = (fileByteCount + 4095) & ~4095
    guard need <= byteCount / 4 else { return }
    lastUse += 1
    let use = lastUse
    // The older file of the number stays until the new one is there.
    makeRoom(need, sparing: (store, number))
    stores[store][number] = Original(version: version, byteCount: need, use: use)
  }

  mutating func use(_ number: Int, in store: Int) {
    guard stores[store][number] != nil else { return }
    lastUse += 1
    stores[store][number]?.use = lastUse
  }

  mutating func remove(in store: Int, where isUnwanted: (Int) -> Bool) {
    stores[store] = stores[store].filter { !isUnwanted($0.key) }
  }

  mutating func setByteCount(_ byteCount: Int) {
    self.byteCount = byteCount
    makeRoom(0, sparing: nil)
  }

  private mutating func makeRoom(_ need: Int, sparing spared: (store: Int, number: Int)?) {
    while usedByteCount + need > byteCount {
      var oldest: (store: Int, number: Int, use: Int)?
      for store in stores.indices {
        for (number, original) in stores[store] where oldest.map({ original.use < $0.use }) ?? true
        {
          if let spared, spared == (store, number) { continue }
          oldest = (store, number, original.use)
        }
      }
      guard let oldest else { return }
      stores[oldest.store][oldest.number] = nil
    }
  }
}
