import Foundation

/// The files that the maps in `Docs/Map` describe, by their paths from the package's own folder.
enum SourceTree {
  /// Swift and C below `Sources` and `Tests`, without the inputs of the corpora.
  static let files: [String] = ["Sources", "Tests"].flatMap { top in
    let folder = Document.root.appendingPathComponent(top).path
    let below = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return below.map { "\(top)/\($0)" }.filter(isSource).sorted()
  }

  private static func isSource(_ path: String) -> Bool {
    guard !path.hasPrefix("Tests/Corpora/") else { return false }
    return [".swift", ".c", ".h"].contains { path.hasSuffix($0) }
  }

  /// The folder of a file; of a file at the top, nothing.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }
}
