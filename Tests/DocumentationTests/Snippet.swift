import Foundation

/// A block of Swift in a document, or in a doc comment of a module that users import.
///
/// Each one is a program by itself, which a reader could paste into a `main.swift`. It sees the
/// library, Foundation and the few names of `SnippetContext`; its own declarations come first.
struct Snippet: Sendable, CustomStringConvertible {
  static let all: [Snippet] =
    (Document.all.flatMap { (try? snippets(of: $0)) ?? [] }
    + referenceFiles.flatMap { (try? snippets(inCommentsOf: $0)) ?? [] })
    .filter { !$0.isForApple }

  /// The modules that users import, and those that `FastImageCache` exports.
  private static let modules = [
    "FastImageCache", "FastImageCacheTesting", "ImageCodecs", "ImageDrawing", "ImageSources",
    "LoadQueue", "Pixels",
  ]

  private static let referenceFiles = SourceTree.files.filter { path in
    modules.contains { path.hasPrefix("Sources/\($0)/") }
  }.map(Document.init(path:))

  let path: String
  /// The number of the block's first line of code, counted from 1.
  let line: Int
  let code: String

  var description: String { "\(path):\(line)" }

  /// The default isolations under which it may mean different things. The default says what
  /// functions, types and extensions belong to; the variables of a `main.swift` belong to the main
  /// actor under each, so a snippet of variables and statements is the same program.
  var isolations: [SnippetCompiler.DefaultIsolation] {
    isDeclaring ? SnippetCompiler.DefaultIsolation.allCases : [.none]
  }

  /// Whether it needs a toolkit of Apple's; `.ci/apple-check` compiles it with a stand-in.
  var isForApple: Bool { code.contains(/(^|\n)import (AppKit|SwiftUI|UIKit)\n/) }

  /// Whether it declares more than variables.
  var isDeclaring: Bool {
    code.contains(/\b(actor|class|enum|extension|func|import|protocol|struct|typealias)\b/)
  }

  private static func snippets(of document: Document) throws -> [Snippet] {
    snippets(in: try document.lines(), path: document.path)
  }

  private static func snippets(inCommentsOf source: Document) throws -> [Snippet] {
    snippets(in: commentText(of: try source.lines()), path: source.path)
  }

  /// The text of doc comments, each line in its place; all other lines are empty.
  static func commentText(of lines: [Substring]) -> [Substring] {
    lines.map { line in
      let text = line.drop { $0 == " " }
      return text.hasPrefix("///") ? text.dropFirst(3) : ""
    }
  }

  static func snippets(in lines: [Substring], path: String) -> [Snippet] {
    var snippets: [Snippet] = []
    var block: (line: Int, indent: Int, lines: [Substring])?
    for (index, text) in lines.enumerated() {
      let trimmed = text.drop { $0 == " " }
      if let (line, indent, code) = block {
        if trimmed.hasPrefix("```") {
          snippets.append(
            Snippet(path: path, line: line, code: code.joined(separator: "\n") + "\n"))
          block = nil
        } else {
          block?.lines.append(text.dropFirst(min(indent, text.count - trimmed.count)))
        }
      } else if trimmed == "```swift" {
        block = (index + 2, text.count - trimmed.count, [])
      }
    }
    return snippets
  }
}
