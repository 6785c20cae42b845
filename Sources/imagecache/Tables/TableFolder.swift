import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// The tables below a folder, for commands that do not know their formats.
///
/// The folder either holds table files, or holds such folders, as a cache's directory does.
struct TableFolder {
  /// A table and the folder it lies in.
  struct Table {
    let reader: TableReader
    let directory: TableDirectory

    /// `nil` for the folder of a cache that no current version has opened.
    var namespace: String? { directory.namespace }

    var code: ImageCode? { ImageCode(rawValue: reader.geometry.pixelFormat) }

    /// Whether images have frames, which are entries of their own in the file.
    var hasAnimations: Bool { code?.hasAnimations == true }
  }

  let path: String
  let directories: [TableDirectory]
  let tables: [Table]

  /// Files with the name of a table that cannot be read as one.
  let unreadableFiles: [URL]

  private static let suffix = ".imagetable"

  /// - Parameter mayBeEmpty: Whether there may be no table.
  /// - Throws: ``UsageError`` where there is no such folder or no table in it, ``CommandFailure`` where a folder in it
  ///   that perhaps has one cannot be read.
  init(_ path: String, mayBeEmpty: Bool = false) throws {
    self.path = path
    let root = try URL(argument: path, directoryHint: .isDirectory)
    let folders = try [root] + Self.contents(of: root, named: path).filter(Self.isFolder)
    var directories: [TableDirectory] = []
    var tables: [Table] = []
    var unreadable: [URL] = []
    var lockedFolders: [String] = []
    for folder in folders {
      let contents: [URL]
      do { contents = try Self.contents(of: folder, named: folder.path) } catch {
        lockedFolders.append(folder.path)
        continue
      }
      let names = contents.filter { $0.lastPathComponent.hasSuffix(Self.suffix) }
      if names.isEmpty { continue }
      let directory = try TableDirectory(path: folder.path)
      let readers = try directory.tables()
      let readable = Set(
        try readers.map { try TableDirectory.safeName(for: $0.name) + Self.suffix })
      directories.append(directory)
      tables += readers.map { Table(reader: $0, directory: directory) }
      unreadable += names.filter { !readable.contains($0.lastPathComponent) }
    }
    guard mayBeEmpty || !directories.isEmpty else {
      if let folder = lockedFolders.first {
        throw CommandFailure("The folder \(folder) cannot be read.")
      }
      throw UsageError("The folder \"\(path)\" has no image tables.")
    }
    self.directories = directories
    self.tables = tables
    unreadableFiles = unreadable
  }

  /// The one table with a name.
  ///
  /// - Throws: ``UsageError`` where there is none, or more than one.
  func table(named name: String) throws(UsageError) -> Table {
    let found = tables.filter { $0.reader.name == name }
    guard let table = found.first else {
      let names = tables.map { "\"\($0.reader.name)\"" }.joined(separator: ", ")
      throw UsageError(
        "There is no table \"\(name)\" in \"\(path)\"; there is \(names.isEmpty ? "none" : names).")
    }
    guard found.count == 1 else {
      let folders = found.map(\.directory.path).joined(separator: ", ")
      throw UsageError("Several folders have a table \"\(name)\"; name one of them: \(folders).")
    }
    return table
  }

  private static func contents(of folder: URL, named path: String) throws(UsageError) -> [URL] {
    do {
      return try FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil
      ).sorted { $0.lastPathComponent < $1.lastPathComponent }
    } catch {
      throw UsageError("The folder \"\(path)\" cannot be read or is none.")
    }
  }

  private static func isFolder(_ url: URL) -> Bool {
    // An entry without a readable status is not a folder to search.
    let values = try? url.resourceValues(forKeys: [.isDirectoryKey, .isSymbolicLinkKey])
    return values?.isDirectory == true && values?.isSymbolicLink != true
  }
}
