import Foundation
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A folder of originals whose process is killed", .timeLimit(.minutes(10)))
struct FolderKillTests {
  @Test(
    "has right originals or none, and what had returned, before, in and after each call",
    arguments: FolderStep.allCases, [false, true])
  func survivesKills(step: FolderStep, isMidway: Bool) throws {
    for call in stride(from: 0, to: 100, by: Sanitizer.sweepStep) {
      let originals = try Originals()
      try FolderStep.prepare(originals)
      let process = DyingProcess(after: call, isMidway: isMidway)
      var isDone = false
      do {
        try step.perform(originals, process.system)
        isDone = true
      } catch is TableError {}
      try step.check(originals, isDone: isDone, "\(step), call \(call)")
      guard process.isDead else {
        #expect(isDone)
        // Fewer calls would mean that the step does nothing.
        #expect(call >= 3)
        return
      }
    }
    Issue.record("\(step) takes ever more calls.")
  }

  @Test("has every block of a partial that was appended before the kill", arguments: [false, true])
  func keepsBlocks(isMidway: Bool) throws {
    let whole = content(1, 1, byteCount: longByteCount)
    for call in stride(from: 0, to: 40, by: Sanitizer.sweepStep) {
      let originals = try Originals()
      let process = DyingProcess(after: call, isMidway: isMidway)
      var done = 0
      do {
        let partial = try originals.open(process.system).beginPartial(originalKey(1), facts(1, 1))
        for number in 0..<3 {
          try partial.append(block(1, 1, number), at: number)
          done = number + 1
        }
        _ = try partial.finish(whole, blockCount: 3, facts(1, 1))
        done = 4
      } catch is TableError {}
      let folder = try originals.open()
      let version = try folder.version(1, byteCount: longByteCount)
      let found = try folder.openPartial(originalKey(1))
      #expect(done == 4 ? version == 1 : [1, nil].contains(version), "call \(call)")
      #expect(version == 1 || found?.blockCount ?? 0 >= done, "call \(call)")
      if let found { #expect(found.content == whole.prefix(found.content.count), "call \(call)") }
      if !process.isDead {
        #expect(call > 12)
        return
      }
    }
    Issue.record("A partial takes ever more calls.")
  }
}
