/// The differences between the pages of the map and the tree; empty where they agree.
///
/// Of several pages whose folders hold a file, the page of the innermost folder describes it.
struct MapComparison {
  let pages: [MapPage]
  let files: [String]

  /// Files that no entry describes, as the lines that the map lacks, each after its page.
  var missing: [String] {
    files.flatMap { file in
      guard let page = page(of: file) else { return ["\(file) belongs to no page."] }
      guard page.entries(for: file).isEmpty else { return [String]() }
      return ["\(page.path): - `\(file.dropFirst(page.folder.count + 1))`: …"]
    }
  }

  /// Entries that describe no file, or one that another entry describes too.
  var superfluous: [String] {
    pages.flatMap { page in
      let own = files.filter(page.describes)
      return Dictionary(grouping: page.entries, by: \.path).sorted { $0.key < $1.key }
        .compactMap { path, entries in
          let isInTree = own.contains { file in
            page.entries(for: file).contains { $0.path == path }
          }
          if !isInTree { return "\(page.path): `\(path)` is not there." }
          return entries.count > 1 ? "\(page.path): `\(path)` stands there twice." : nil
        }
    }
  }

  private func page(of file: String) -> MapPage? {
    pages.filter { $0.describes(file) }.max { $0.folder.count < $1.folder.count }
  }
}
