import CommandSupport
import FastImageCache
import Foundation

/// The stores of originals that a cache's folder has: in its folder `Originals`, where `fetch` has one, in its other
/// folders, or in itself.
struct OriginalFolders {
  struct Store {
    /// As the folder is called.
    let name: String
    let store: OriginalStore

    /// How commands call it; tables may bear its name.
    var title: String { "originals \"\(name)\"".printable }
  }

  let stores: [Store]

  /// Where `fetch` has its store.
  static func directory(in cache: URL) -> URL {
    cache.appending(path: "Originals", directoryHint: .isDirectory)
  }

  /// A folder that cannot be read has none.
  init(_ path: String) throws {
    let root = try URL(argument: path, directoryHint: .isDirectory)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let folders =
      [root] + names.sorted().map { root.appending(path: $0, directoryHint: .isDirectory) }
    stores = folders.filter(OriginalStore.isStore).map { folder in
      // No command makes room.
      Store(
        name: folder.lastPathComponent, store: OriginalStore(directory: folder, byteLimit: .max))
    }
  }
}
