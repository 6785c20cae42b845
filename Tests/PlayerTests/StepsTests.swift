import Foundation
import Player
import TestSupport
import Testing

@Suite("The steps of the walk", .timeLimit(.minutes(20)))
struct StepsTests {
  /// Names by which code calls nothing: a `for` loop, a literal and an operator have none.
  private static let unwritten: Set<String> = ["makeAsyncIterator", "==", "<", "hash"]

  /// A line of the API file.
  private struct Line {
    let name: String
    /// Whether it is a function, an initialiser or a property that can be set.
    let isCall: Bool

    init?(_ text: Substring) {
      guard let colon = text.range(of: ": ") else { return nil }
      name = String(text[..<colon.lowerBound])
      let words = text[colon.upperBound...]
      isCall =
        words.contains("func ") || words.contains(#/\binit[?(<]/#)
        || words.contains("var ") && (!words.contains("{ get") || words.contains("{ get set }"))
    }
  }

  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func lines() throws -> [Line] {
    try String(contentsOf: folder.appending(path: ".ci/api/FastImageCache.txt"), encoding: .utf8)
      .split(separator: "\n").compactMap(Line.init)
  }

  @Test("call each function, initialiser and property that can be set, but for those of a list")
  func callEverything() throws {
    let lines = try Self.lines()
    let calls = Set(Step.allCalls.flatMap(\.calls))
    let needed = Set(lines.filter(\.isCall).map(\.name))
    #expect(needed.count > 300)
    let missing = needed.subtracting(calls).filter { Step.reason(forKeepingOut: $0) == nil }
    #expect(missing.isEmpty, "no step calls \(missing.sorted())")
    let unknown = calls.subtracting(lines.map(\.name))
    #expect(unknown.isEmpty, "no lines of the API file: \(unknown.sorted())")
    for (names, reason) in Step.keptOut {
      let covered = needed.subtracting(calls).filter { Step.covers(names, $0) }
      #expect(!covered.isEmpty && !reason.isEmpty, "\(names) keeps nothing out")
    }
  }

  @Test("write down what they call")
  func writeCalls() throws {
    let sources = Self.folder.appending(path: "Tests/Player")
    var code = ""
    for case let file as URL in FileManager.default.enumerator(
      at: sources, includingPropertiesForKeys: nil) ?? .init()
    where file.pathExtension == "swift" {
      // Strings hold the names of calls.
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        let pieces = line.split(separator: "\"", omittingEmptySubsequences: false)
        code +=
          stride(from: 0, to: pieces.count, by: 2).map { String(pieces[$0]) }
          .joined(separator: " ").split(separator: "//", omittingEmptySubsequences: false)[0] + "\n"
      }
    }
    let words = Set(code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    for (step, calls) in Step.allCalls {
      for call in calls {
        let names = call.prefix { $0 != "(" }.split(separator: ".").map(String.init)
        guard let last = names.last, !Self.unwritten.contains(last), !call.contains("Literal:")
        else { continue }
        let word = last == "init" ? names.dropLast().last ?? "" : last
        #expect(words.contains(word), "\"\(step)\" does not call \(call)")
      }
    }
  }

  /// Each comparison of an answer is taken for false, until all steps were found: one that is not found is read by no
  /// oracle.
  @Test("have answers that an oracle reads, and one that is deaf to them finds nothing")
  func areRead() async throws {
    let folder = try TemporaryDirectory()
    // It ends when the last step was read.
    var options = Walk.Options(seed: 1, duration: .seconds(1_000))
    (options.lies, options.patience) = (true, .seconds(500))
    let walk = try Walk(in: folder.url.appending(path: "lies"), options, Finds { _ in })
    let empty = Set(walk.emptyCells.map { "\($0.name) × \($0.kind)" })
    let explained = Step.emptyCells.flatMap { cells in
      cells.names.flatMap { name in cells.kinds.map { "\(name) × \($0)" } }
    }
    #expect(empty == Set(explained), "\(empty.symmetricDifference(explained).sorted())")
    try await walk.run()
    #expect(walk.unread.isEmpty, "no oracle reads \(walk.unread)")

    options.deaf = Set(Step.allCalls.map(\.step))
    options.until = 100
    let finds = Finds { print($0) }
    try await Walk(in: folder.url.appending(path: "deaf"), options, finds).run()
    #expect(finds.total == 0, "\(finds.lines.joined(separator: "\n"))")
  }
}
