import CommandSupport
import FastImageCache
import Foundation
import OriginalStore

/// The stores of originals that a cache's folder has: in its folder `Originals`, where `fetch` has one, or in
/// itself.
struct OriginalFolders {
  struct Store {
    /// As the folder is called, without the hash behind it.
    let name: String
    let folder: OriginalFolder
  }

  let stores: [Store]

  /// Where `fetch` has its store, and a store has its folder.
  static func directory(in cache: URL) -> URL {
    cache.appending(path: "Originals", directoryHint: .isDirectory)
  }

  /// - Throws: The error of a store whose folder cannot be opened. A folder that cannot be read has none.
  init(_ path: String) throws {
    let root = try URL(argument: path, directoryHint: .isDirectory)
    let candidates =
      [root] + Self.folders(in: root) + Self.folders(in: Self.directory(in: root))
    stores = try candidates.filter { OriginalFolder.isStore(Self.names(in: $0)) }.map { url in
      Store(
        name: url.lastPathComponent.replacing(/-[0-9a-f]{16}$/, with: ""),
        folder: try OriginalFolder(path: url.path(percentEncoded: false)))
    }
  }

  private static func names(in folder: URL) -> [String] {
    // A folder that cannot be listed has no store.
    let path = folder.path(percentEncoded: false)
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  private static func folders(in folder: URL) -> [URL] {
    names(in: folder).map { folder.appending(path: $0, directoryHint: .isDirectory) }
  }
}

extension OriginalFolders.Store {
  /// How commands call it; tables may bear its name.
  var title: String { "originals \"\(name)\"".printable }
}

extension SurveyedPartial {
  /// The bytes of the whole original, as its server announced them.
  var total: Int? { OriginalTerms(encoded: facts.terms)?.byteCount }
}
