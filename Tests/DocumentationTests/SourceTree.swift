import Foundation

/// The source files of the package.
enum SourceTree {
  /// Swift files below `Sources`, by their paths from the package's own folder.
  static let files: [String] = {
    let folder = Document.root.appendingPathComponent("Sources").path
    let below = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return below.filter { $0.hasSuffix(".swift") }.map { "Sources/\($0)" }.sorted()
  }()
}
