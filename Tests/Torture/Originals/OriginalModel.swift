import TestSupport

/// The originals that a folder may hold after its process was killed, from the ledger of its steps: what had
/// returned must show, but for evictions, and the step that was under way may have happened or not.
struct OriginalModel {
  private var present: [Int: Int]
  private let mayEvict: Bool
  private var pending: Ledger.Line?
  /// The last original that was kept: no other one came, so it made room for none.
  private var newest: Int?
  /// The versions of the large original that came, as far as they came, and the one that was there before.
  private var arrived: Set<Int> = []

  init(present: [Int: Int] = [:], mayEvict: Bool) {
    (self.present, self.mayEvict) = (present, mayEvict)
  }

  mutating func replay(_ ledger: Ledger) {
    for index in 0..<ledger.count {
      let line = ledger.line(index)
      guard line.isDone == 1 else {
        pending = line
        return
      }
      let number = Int(line.entity)
      switch Ledger.Step(rawValue: line.step) {
      case .store: (present[number], newest) = (Int(line.version), number)
      case .remove:
        present[number] = nil
        if newest == number { newest = nil }
        if number == OriginalCatalogue.large { arrived = [] }
      case .reset: (present, newest, arrived) = ([:], nil, [])
      case .adopt:
        // Until all bytes have come, the one that was there stays.
        if let version = present.removeValue(forKey: number) { arrived.insert(version) }
        arrived.insert(Int(line.version))
        // It may have made room.
        newest = nil
      case .open, .flush, .close, .end, nil: break
      }
    }
  }

  /// Compares the version found of each number with those that may be there.
  func judge(_ found: [Int: Int], _ findings: Findings, _ context: String) {
    let step = pending.flatMap { Ledger.Step(rawValue: $0.step) }
    for number in Set(present.keys).union(found.keys).sorted() {
      let isPending = pending.map { Int($0.entity) == number } == true
      let mayBePending = isPending && (step == .store || step == .adopt)
      switch found[number] {
      case 0: findings.report(.wrongImage, "original \(number), \(context)")
      case let version? where version == present[number]: break
      case let version?:
        if mayBePending, pending.map({ Int($0.version) }) == version { break }
        if number == OriginalCatalogue.large, arrived.contains(version) { break }
        findings.report(.undead, "version \(version) of original \(number), \(context)")
      case nil:
        // A younger body takes the place of the older one, which is unlinked before the younger one's commit.
        let isRemoved = step == .reset || isPending && (step == .remove || step == .store)
        // Room may have been made for the one that was under way.
        let isEvicted = mayEvict && (number != newest || step == .store || step == .adopt)
        if !isRemoved, !isEvicted { findings.report(.lostEntry, "original \(number), \(context)") }
      }
    }
  }
}
