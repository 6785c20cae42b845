/// A page of `Docs/Map`: one folder of the tree, and a sentence for each file in it.
///
/// The title is the folder in backticks. A line such as ``- `Output/TextTable.swift`: rows of text in
/// columns`` describes a file, by its path from that folder. A path that ends with a slash stands
/// for all files below that folder which have no page of their own.
struct MapPage: Sendable {
  struct Entry: Sendable, Hashable {
    let path: String
    let sentence: String
  }

  static let all: [MapPage] = Document.all
    .filter { $0.path.hasPrefix("Docs/Map/") }
    .compactMap { document in
      (try? document.lines()).flatMap { MapPage(path: document.path, lines: $0) }
    }

  /// The path of the page itself.
  let path: String
  /// The folder that the page describes, for instance `Sources/CommandSupport`.
  let folder: String
  let entries: [Entry]

  /// `nil` where the title names no folder.
  init?(path: String, lines: [Substring]) {
    guard let title = lines.first?.wholeMatch(of: /# `([^`]+)`/) else { return nil }
    self.path = path
    folder = String(title.1)
    entries = lines.compactMap { line in
      line.prefixMatch(of: /- `([^`]+)`:? *(.*)/)
        .map { Entry(path: String($0.1), sentence: String($0.2)) }
    }
  }

  func describes(_ file: String) -> Bool { file.hasPrefix("\(folder)/") }

  /// The entries that stand for a file of this page's folder.
  func entries(for file: String) -> [Entry] {
    let name = file.dropFirst(folder.count + 1)
    return entries.filter { $0.path.hasSuffix("/") ? name.hasPrefix($0.path) : name == $0.path }
  }
}
