/// The images that a table may hold after its process was killed, from the ledger of its steps.
///
/// A kill keeps every system call that was made and a part of the last one. So all finished steps
/// must show, and the step that was under way may have happened or not.
struct KillModel {
  private(set) var present: [Int: Int] = [:]
  /// Images that may be missing without a recorded eviction: they made room for others before
  /// their entity was known.
  private(set) var losable = 0
  /// Entities whose removal a kill interrupted after the file had noted it and before the record was zeros.
  /// The image goes when the table changes its capacity, or stays until the next change of the entity.
  private(set) var halfRemoved: Set<Int> = []
  /// The capacity that was asked for last.
  private(set) var slots: Int
  private var pending: (step: Ledger.Step, entity: Int, version: Int)?

  init(present: [Int: Int] = [:], slots: Int) {
    self.present = present
    self.slots = slots
  }

  /// The model of the next process, after what was found.
  func next(found: [Int: Int]) -> KillModel {
    var next = KillModel(present: found, slots: slots)
    next.halfRemoved = halfRemoved
    if let pending, pending.step == .remove { next.halfRemoved.insert(pending.entity) }
    next.halfRemoved.formIntersection(found.keys)
    return next
  }

  mutating func replay(_ ledger: Ledger) {
    for index in 0..<ledger.count {
      let line = ledger.line(index)
      guard let step = Ledger.Step(rawValue: line.step) else { continue }
      if step == .open {
        slots = Int(line.entity)
        // The least recently used images do not fit.
        losable += max(0, present.count - slots)
      }
      guard line.isDone == 1 else {
        pending = (step, Int(line.entity), Int(line.version))
        if step == .store { losable += 1 }
        if step == .adopt { losable += 2 }
        return
      }
      apply(step, line)
    }
  }

  private mutating func apply(_ step: Ledger.Step, _ line: Ledger.Line) {
    switch step {
    case .store, .adopt, .remove: halfRemoved.remove(Int(line.entity))
    case .reset: halfRemoved = []
    case .open, .flush, .close, .end: break
    }
    switch step {
    case .store:
      if line.evicted >= 0 {
        present[Int(line.evicted)] = nil
      } else if line.evicted == -2 {
        losable += 1
      }
      present[Int(line.entity)] = Int(line.version)
    case .adopt:
      // Under its first id and under the second it made room twice.
      losable += 2
      present[Int(line.entity)] = Int(line.version)
    case .remove: present[Int(line.entity)] = nil
    case .reset:
      present = [:]
      losable = 0
    case .open, .flush, .close, .end: break
    }
  }

  /// Compares the version found of each entity with those that may be there.
  func judge(_ found: [Int: Int], _ findings: Findings, _ context: @autoclosure () -> String) {
    if pending?.step == .reset, found.isEmpty { return }
    var missing: [Int] = []
    for entity in Set(present.keys).union(found.keys).sorted() {
      let isPending = pending?.entity == entity
      let known = present[entity]
      switch found[entity] {
      case let version? where version == known: break
      case let version?
      where isPending && [.store, .adopt].contains(pending?.step) && pending?.version == version:
        break
      case let version?:
        findings.report(.undead, "version \(version) of entity \(entity), \(context())")
      case nil where isPending && pending?.step == .remove: break
      case nil where halfRemoved.contains(entity): break
      case nil: missing.append(entity)
      }
    }
    // The newer image of an entity is there before the older one goes.
    if missing.count > losable {
      findings.report(
        .lostEntry, "entities \(missing), of which \(losable) may be missing, \(context())")
    }
  }
}
