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

  func lines() throws -> [Substring] {
    try String(contentsOf: url, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }
}
