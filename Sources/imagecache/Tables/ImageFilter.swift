import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// The images that a call is about: all, or those of an age, with an id of a form.
struct ImageFilter {
  static let options: [ArgumentGrammar.Option] = [
    .value(
      "--older-than", "DURATION",
      help: "only images stored that long ago or longer: 90m, 12h, 30d, 8w"),
    .value(
      "--matching", "PATTERN",
      help: "only images whose whole id is of this form; * stands for any\ncharacters, ? for one"),
  ]

  private let pattern: GlobPattern?
  /// A generation, which is the time of storing in microseconds.
  private let latest: UInt64?

  init(_ arguments: Arguments) throws(UsageError) {
    pattern = arguments.value("--matching").map { GlobPattern($0) }
    latest = try arguments.duration("--older-than").map { age in
      UInt64(max(0, Date().timeIntervalSince1970 - Double(age.components.seconds)) * 1_000_000)
    }
  }

  /// Whether every image passes.
  var isEmpty: Bool { pattern == nil && latest == nil }

  func passes(_ entry: TableEntryInfo) -> Bool {
    pattern?.matches("\(entry.entity)") != false && latest.map { entry.generation <= $0 } != false
  }

  /// Whether an original passes, of which one id suffices: its own, or its entity's.
  func passes(_ original: Original) -> Bool {
    let seconds = UInt64(max(0, original.stored.timeIntervalSince1970))
    return pattern.map { pattern in
      [original.id, original.entity].contains { pattern.matches("\($0)") }
    } != false && latest.map { seconds <= $0 / 1_000_000 } != false
  }
}
