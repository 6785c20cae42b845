import CommandSupport
import Foundation
import Pixels

/// Parses the words of a call, one a line.
enum ArgumentsAttack {
  private static let grammar = ArgumentGrammar(
    command: "imagecache attack", summary: "Has an option of each kind.",
    operands: [.init("DIR", help: "a folder"), .init("NAME", isRequired: false, help: "a name")],
    options: [
      .flag("--json", help: "json"), .value("--size", "WxH", help: "a size"),
      .value("--pixel-format", "FORMAT", help: "a pixel format"),
      .value("--rows", "N", help: "a number"),
      .value("--format", "F", isRepeatable: true, help: "a format"),
    ],
    discussion: "")

  static func run(on bytes: [UInt8]) throws {
    let words = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    do throws(UsageError) {
      let arguments = try Arguments(words, grammar: grammar)
      _ = try arguments.pixelFormat("--pixel-format")
      let size = try arguments.size("--size")
      let rows = try arguments.integer("--rows", in: 1...500)
      for text in arguments.values("--format") { try check(try FormatArgument(text), text) }
      try check(size)
      try require((1...500).contains(rows ?? 1), "\(rows ?? 0) rows")
      try require(
        arguments.isHelpWanted || (1...2).contains(arguments.operands.count),
        "\(arguments.operands.count) operands")
    } catch {
      guard !error.description.hasPrefix(mark) else {
        throw BrokenRule(description: error.description)
      }
    }
  }

  private static let mark = "Rule broken: "

  /// Parsing throws one kind of error only, so a broken rule becomes one.
  private static func require(_ isKept: Bool, _ rule: String) throws(UsageError) {
    if !isKept { throw UsageError(mark + rule) }
  }

  private static func check(_ size: PixelSize?) throws(UsageError) {
    guard let size else { return }
    try require(
      (1...32_767).contains(size.width) && (1...32_767).contains(size.height), "size \(size)")
  }

  private static func check(_ format: FormatArgument, _ text: String) throws(UsageError) {
    try check(format.size)
    try require(text.hasPrefix(format.name + ":"), "\(text) names \(format.name)")
  }
}
