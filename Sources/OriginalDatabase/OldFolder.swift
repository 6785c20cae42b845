package import TableStore

/// The folders of originals that versions before SQLite wrote: a store's files in one folder each.
package enum OldFolder {
  private static let index = "originals.index"

  /// Deletes the files of such stores in a folder and in those in it. Other files stay, and so do folders
  /// that have some.
  package static func remove(in path: String, _ system: SystemCalls) {
    for name in clear(path, system) where !clear(path + "/" + name, system).isEmpty {
      SystemCalls.removeDirectory(path + "/" + name)
    }
  }

  /// - Returns: The names in the folder; none where it is no folder.
  private static func clear(_ path: String, _ system: SystemCalls) -> [String] {
    guard let folder = try? system.openDirectory(path) else { return [] }
    defer { SystemCalls.closeFile(folder) }
    guard let names = try? system.names(in: folder) else { return [] }
    if names.contains(index) {
      // Last the index, which tells the folder from others.
      for name in names.filter(isOurs) + [index] { try? system.unlink(name, in: folder) }
    }
    return names
  }

  private static func isOurs(_ name: String) -> Bool {
    let digits = name.prefix { ("0"..."9").contains($0) || ("a"..."f").contains($0) }
    return digits.utf8.count == 32 && ["", ".part", ".terms"].contains(name.dropFirst(32))
      || name.hasPrefix("new-") && name.utf8.count == 20
  }
}
