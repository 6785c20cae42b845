import Foundation
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A folder of originals whose calls fail", .timeLimit(.minutes(10)))
struct FolderFaultTests {
  @Test(
    "finds right originals or none, and goes on afterwards, whichever call failed and how often",
    arguments: FolderStep.allCases, [ENOSPC, EIO, EMFILE, EDQUOT, EPERM])
  func survivesFailures(step: FolderStep, code: Int32) throws {
    // How often it fails makes a difference to what follows; with which error does not, then.
    for count in code == EIO ? [1, 3, .max] : [1] {
      for call in stride(from: 0, to: 100, by: Sanitizer.sweepStep) {
        let originals = try Originals()
        try FolderStep.prepare(originals)
        let plan = FaultPlan(code: code)
        plan.fail(after: call, count: count)
        var isDone = false
        do {
          try step.perform(originals, plan.system)
          isDone = true
        } catch let error as TableError {
          // Every failure has its name; a full disk above all.
          let isFull = if case .diskFull = error { true } else { false }
          #expect(isFull == [ENOSPC, EDQUOT].contains(code), "\(error)")
        }
        // A failed call may be one whose result does not matter, such as the unlinking of terms.
        try step.check(originals, isDone: isDone, "\(step), call \(call), \(count) times \(code)")
        guard plan.failureCount > 0 else {
          #expect(isDone)
          break
        }
        #expect(call + Sanitizer.sweepStep < 100, "\(step) takes ever more calls.")
      }
    }
  }

  @Test("leaves nothing behind when it cannot write", arguments: [ENOSPC, EIO])
  func leavesNothing(code: Int32) throws {
    let originals = try Originals()
    let plan = FaultPlan(code: code)
    let folder = try originals.open(plan.system)
    for kinds in [[SystemCall.Kind.write], [.rename], [.protect]] {
      plan.fail(after: 0, only: Set(kinds))
      #expect(throws: TableError.self) { try folder.keep(1, 1) }
      if kinds != [.rename] {
        #expect(throws: TableError.self) { try folder.beginPartial(originalKey(1), facts(1, 1)) }
      }
      #expect(try originals.names.isEmpty)
    }
  }
}
