import Foundation

/// A Markdown file of the package.
struct Document: Sendable, CustomStringConvertible {
  /// The package's own folder.
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The articles of the reference.
  static let catalogue = "Sources/FastImageCache/FastImageCache.docc"

  /// The README, the changelog and all below `Docs` and in the catalogue, in the order of their paths.
  static let all: [Document] = {
    let below = ["Docs", catalogue].flatMap { folder in
      let paths = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
      return (paths?.compactMap { $0 as? String } ?? []).map { "\(folder)/\($0)" }
    }.filter { $0.hasSuffix(".md") }
    return (["README.md", "CHANGELOG.md"] + below.sorted()).map(Document.init(path:))
  }()

  /// Relative to the root.
  let path: String

  var description: String { path }

  var url: URL { Self.root.appendingPathComponent(path) }

  static func sections(of file: URL) throws -> Set<String> {
    sections(
      in: try String(contentsOf: file, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false))
  }

  /// The names that links give to the sections below the headings, by GitHub's rule.
  static func sections(in lines: [Substring]) -> Set<String> {
    var names: Set<String> = []
    var counts: [String: Int] = [:]
    var isCode = false
    for line in lines {
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, let heading = line.wholeMatch(of: /#{1,6} +(.*)/) else { continue }
      let text = heading.1.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }.lowercased()
      let name = text.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
        .replacingOccurrences(of: " ", with: "-")
      let count = counts[name, default: 0]
      counts[name] = count + 1
      names.insert(count == 0 ? name : "\(name)-\(count)")
    }
    return names
  }

  func lines() throws -> [Substring] {
    try String(contentsOf: url, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }
}
