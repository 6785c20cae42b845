import TestSupport

/// The originals that a folder may hold after its process was killed, from the ledger of its steps.
///
/// A kill keeps every call that was made and a part of the last one. So what had returned must show,
/// but for evictions, and the step that was under way may have happened or not.
struct OriginalModel {
  private var present: [Int: Int]
  private let mayEvict: Bool
  private var pending: Ledger.Line?
  /// Whether something that is no original stood under a name when the session began.
  private(set) var isSabotaged = false
  /// The last original that was kept: no other one came, so it made room for none.
  private var newest: Int?

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
      case .store:
        present[number] = Int(line.version)
        newest = number
      case .remove:
        present[number] = nil
        if newest == number { newest = nil }
      case .reset: (present, newest) = ([:], nil)
      case .open, .flush, .close, .end, .adopt, nil: break
      }
    }
  }

  /// Takes note of an attack before the next session.
  mutating func lose(_ loss: OriginalSabotage.Loss) {
    switch loss {
    case .nothing: break
    case .everything: present = [:]
    case .original(let number):
      present[number] = nil
      isSabotaged = true
    }
  }

  /// Compares the version found of each number with those that may be there.
  func judge(_ found: [Int: Int], _ findings: Findings, _ context: String) {
    let step = pending.flatMap { Ledger.Step(rawValue: $0.step) }
    for number in Set(present.keys).union(found.keys).sorted() {
      let isPending = pending.map { Int($0.entity) == number } == true
      switch found[number] {
      case let version? where version == present[number] || version == 0: break
      case let version?:
        if isPending, step == .store, pending.map({ Int($0.version) }) == version { break }
        findings.report(.undead, "version \(version) of original \(number), \(context)")
      case nil:
        let isRemoved = step == .reset || isPending && step == .remove
        // Room may have been made for the one that was under way.
        let isEvicted = mayEvict && (number != newest || step == .store)
        if !isRemoved, !isEvicted {
          findings.report(.lostEntry, "original \(number), \(context)")
        }
      }
    }
  }
}
