import Foundation
import TestSupport
import Testing

@testable import TableStore

@Suite("A table whose process is killed", .timeLimit(.wholeRun))
struct CrashTests {
  /// The key under which a picture begins that another entity gets later.
  private static func alias(_ key: TableKey) -> TableKey {
    TableKey(entity: TableID("alias"), version: key.version)
  }

  /// Stores, replaces, evicts, renames, removes and empties; exits with 7 at its end.
  private static func work(in path: String, _ system: SystemCalls) {
    let fixture = Fixture(path: path)
    do {
      let table = try fixture.open(slots: 3, system: system)
      for entity in 0..<5 { try table.store(key(entity, 2)) }
      try table.store(key(4, 3))
      let adopted = key(2, 4)
      let drawn = try table.sealed(alias(adopted)) { pixels(for: adopted, byteCount: $0) }
      _ = try table.insert(drawn)
      _ = try table.changeEntity(from: alias(adopted).entity, to: adopted.entity)
      guard table.entry(for: adopted)?.shows(adopted) == true else { exit(2) }
      _ = try table.remove(key(3).entity)
      try table.removeAll()
      try table.store(key(1, 4))
      table.close()
      let larger = try fixture.open(slots: 6, system: system)
      try larger.store(key(2, 5))
      larger.close()
    } catch {
      exit(1)
    }
    exit(7)
  }

  private func check(_ fixture: Fixture, _ call: Int) throws {
    let table = try fixture.open(slots: 3)
    #expect(table.statistics.isOwner, "call \(call)")
    // Asked before any hit, which would remove a damaged picture from the table.
    #expect(table.verify().isEmpty, "call \(call)")
    for entity in 0..<5 {
      for version in 0...5 {
        guard let entry = table.entry(for: key(entity, version)) else { continue }
        #expect(entry.shows(key(entity, version)), "call \(call)")
      }
    }
    if let entry = table.entry(for: Self.alias(key(2, 4))) { #expect(entry.shows(key(2, 4))) }
    try table.store(key(9))
    #expect(table.entry(for: key(9))?.shows(key(9)) == true)
    table.close()
    #expect(try fixture.fileCount == 1, "call \(call)")
  }

  @Test("shows no wrong picture after a kill at any of its calls", arguments: [false, true])
  func survivesEveryKill(isMidway: Bool) async throws {
    for call in stride(from: 0, to: 200, by: Sanitizer.sweepStep) {
      let fixture = try Fixture()
      // A table with pictures of its own, so that there is something to lose.
      let table = try fixture.open(slots: 3)
      for entity in 0..<3 { try table.store(key(entity, 1)) }
      table.close()
      let path = fixture.path
      let result = await #expect(processExitsWith: .failure) {
        [path = path as String, call = call as Int, isMidway = isMidway as Bool] in
        CrashTests.work(in: path, Assassin(after: call, isMidway: isMidway).system)
      }
      try check(fixture, call)
      if result?.exitStatus == .exitCode(7) {
        // Fewer calls would mean that the work was cut short.
        #expect(call > 50)
        return
      }
      #expect(result?.exitStatus == .signal(SIGKILL))
    }
    Issue.record("The work never came to its end.")
  }
}
