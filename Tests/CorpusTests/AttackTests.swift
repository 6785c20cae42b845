import Foundation
import TestSupport
import Testing

@Suite("An attack with the files of the corpus", .timeLimit(.minutes(10)))
struct AttackTests {
  @Test("breaks no rule", arguments: Attack.allCases)
  func keepsRules(attack: Attack) throws {
    for file in Corpus.files(for: attack) {
      expectNoBrokenRule(attack, Array(file.bytes), "\(file)")
    }
  }

  @Test("breaks no rule with random damage on top", arguments: Attack.allCases)
  func keepsRulesDamaged(attack: Attack) throws {
    for file in Corpus.files(for: attack) {
      var random = SplitMix64(state: UInt64(file.bytes.count))
      for round in 0..<10 {
        var bytes = file.bytes
        bytes.damage(by: &random)
        expectNoBrokenRule(attack, Array(bytes), "\(file), damage \(round)")
      }
    }
  }

  @Test("is known to the script that fuzzes")
  func isInScript() throws {
    let script = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzzing/run")
    let names = Attack.allCases.map(\.rawValue).joined(separator: " ")
    #expect(try String(contentsOf: script, encoding: .utf8).contains("attacks=(\(names))"))
  }

  private func expectNoBrokenRule(_ attack: Attack, _ bytes: [UInt8], _ comment: Comment) {
    #expect(throws: Never.self, comment) { try attack.run(on: bytes) }
  }
}
