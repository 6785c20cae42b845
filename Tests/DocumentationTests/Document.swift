import Foundation

/// A Markdown file of the package.
struct Document: Sendable, CustomStringConvertible {
  /// The package's own folder.
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The README, the changelog and all below `Docs`, in the order of their paths.
  static let all: [Document] = {
    let below = FileManager.default.enumerator(atPath: root.appendingPathComponent("Docs").path)?
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".md") }.map { "Docs/\($0)" }
    return (["README.md", "CHANGELOG.md"] + (below ?? []).sorted()).map(Document.init(path:))
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
