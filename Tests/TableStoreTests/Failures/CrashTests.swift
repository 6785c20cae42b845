import Foundation
import TestSupport
import Testing

@testable import TableStore

@Suite("A table whose process is killed", .timeLimit(.wholeRun))
struct CrashTests {
  /// The key under which an image begins that another entity gets later.
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
      let larger = try fixture.reopen(table, slots: 6, system: system)
      try larger.store(key(2, 5))
      larger.close()
    } catch {
      exit(1)
    }
    exit(7)
  }

  private static func found(in table: Table) -> [[Int]] {
    (0..<10).flatMap { entity in
      (0...5).filter { table.contains(key(entity, $0)) }.map { [entity, $0] }
    }
  }

  private func check(_ fixture: Fixture, _ call: Int) throws {
    let table = try fixture.open(slots: 3)
    #expect(table.statistics.isOwner, "call \(call)")
    // Asked before any hit, which would remove a damaged image from the table.
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
    let found = Self.found(in: table)
    table.close()
    // The records tell the same as the index: none is left of what is gone.
    let other = SystemCalls(observer: nil, bootID: BootID(naming: "\(call)"))
    let rebuilt = try fixture.open(slots: 3, system: other)
    let problem: Comment = "call \(call): \(found), \(Self.found(in: rebuilt))"
    #expect(Self.found(in: rebuilt) == found, problem)
    rebuilt.close()
    #expect(try fixture.fileCount == 1, "call \(call)")
  }

  /// Kills a child at one of its calls, with a table that has something to lose.
  private func kill(at call: Int, isMidway: Bool) async throws -> (fixture: Fixture, isDone: Bool) {
    let fixture = try Fixture()
    let table = try fixture.open(slots: 3)
    for entity in 0..<3 { try table.store(key(entity, 1)) }
    table.close()
    let path = fixture.path
    let result = await #expect(processExitsWith: .failure) {
      [path = path as String, call = call as Int, isMidway = isMidway as Bool] in
      CrashTests.work(in: path, Assassin(after: call, isMidway: isMidway).system)
    }
    let isDone = result?.exitStatus == .exitCode(7)
    if !isDone { #expect(result?.exitStatus == .signal(SIGKILL)) }
    return (fixture, isDone)
  }

  @Test("shows no wrong image after a kill at any of its calls", arguments: [false, true])
  func survivesEveryKill(isMidway: Bool) async throws {
    for call in stride(from: 0, to: 400, by: Sanitizer.sweepStep) {
      let (fixture, isDone) = try await kill(at: call, isMidway: isMidway)
      try check(fixture, call)
      if isDone {
        // Fewer calls would mean that the work was cut short.
        #expect(call > 50)
        return
      }
    }
    Issue.record("The work never came to its end.")
  }

  @Test("is found out when slots that the dead had in hand are taken for free ones")
  func findsForgottenSlots() async throws {
    let marks = IndexLayout(slotCount: 3).marksOffset
    for call in 0..<400 {
      let (fixture, isDone) = try await kill(at: call, isMidway: false)
      if isDone { break }
      guard var bytes = try? fixture.indexBytes, bytes.count > marks else { continue }
      let inHand = (0..<3).filter { bytes[marks + $0] == StoredIndex.Mark.changing.rawValue }
      if inHand.isEmpty { continue }
      for slot in inHand { bytes[marks + slot] = StoredIndex.Mark.free.rawValue }
      try fixture.overwriteIndex(with: bytes)
      let table = try fixture.open(slots: 3)
      let found = Self.found(in: table)
      table.close()
      let other = SystemCalls(observer: nil, bootID: BootID(naming: "other"))
      if Self.found(in: try fixture.open(slots: 3, system: other)) != found { return }
    }
    Issue.record("No record came back.")
  }
}
