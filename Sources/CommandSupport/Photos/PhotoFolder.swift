import FastImageCache
package import Foundation

/// The image files below a folder, recognised by their bytes and not by their names.
package struct PhotoFolder: Sendable {
  /// A file that is an image.
  package struct Photo: Hashable, Sendable {
    package let url: URL

    /// The path from the folder to the file, which stays the same when the folder moves.
    package let path: String

    /// In bytes.
    package let byteCount: Int

    /// Seconds since 1970, with fractions.
    package let modificationTime: Double

    /// Changes whenever the file does.
    package var version: String { "\(path)|\(byteCount)|\(modificationTime)" }
  }

  /// A file that is not listed.
  package struct LeftOut: Hashable, Sendable {
    package let path: String
    package let reason: String
  }

  /// In the order of their paths.
  package private(set) var photos: [Photo] = []
  /// Files that are no images.
  package private(set) var skipped: [LeftOut] = []
  /// Files and folders that cannot be read.
  package private(set) var unreadable: [LeftOut] = []

  /// Looks at every file below `folder`; hidden ones are left alone.
  ///
  /// - Parameters:
  ///   - folder: A path, or a file's URL.
  ///   - problem: Receives a file's first bytes, up to 64, and says why they are no image; `nil` for an
  ///     image.
  /// - Throws: ``UsageError`` for a path that is no folder that can be read.
  package init(_ folder: String, problem: (Data) -> String?) throws(UsageError) {
    let root: LocalPath
    let isFolder: Bool
    do {
      root = try LocalPath(argument: folder)
      isFolder = try FileStatus(root).kind == .folder
    } catch {
      throw UsageError("The folder \"\(folder)\" cannot be read: \(Self.reason(error)).")
    }
    guard isFolder else { throw UsageError("\"\(folder)\" is a file and not a folder.") }

    var folders: [[UInt8]] = [[]]
    while let inner = folders.popLast() {
      do {
        for name in try FolderNames(inner.isEmpty ? root : root.appending(inner)).names {
          let path = inner.isEmpty ? name : inner + [UInt8(ascii: "/")] + name
          if add(path, below: root, problem) { folders.append(path) }
        }
      } catch {
        guard !inner.isEmpty else {
          throw UsageError("The folder \"\(folder)\" cannot be read: \(Self.reason(error)).")
        }
        unreadable.append(LeftOut(path: Self.text(inner), reason: Self.reason(error)))
      }
    }
    photos.sort { $0.path < $1.path }
    skipped.sort { $0.path < $1.path }
    unreadable.sort { $0.path < $1.path }
  }

  /// - Returns: Whether the path is that of a folder, which a link to one is not.
  private mutating func add(
    _ inner: [UInt8], below root: LocalPath, _ problem: (Data) -> String?
  ) -> Bool {
    let (file, path) = (root.appending(inner), Self.text(inner))
    do {
      let isLink = try FileStatus(file, followsLinks: false).kind == .link
      let status: FileStatus
      do { status = try FileStatus(file) } catch  where isLink {
        unreadable.append(LeftOut(path: path, reason: "its link leads nowhere"))
        return false
      }
      switch status.kind {
      case .folder: return !isLink
      // Only regular files are opened: opening a pipe would wait for its writer.
      case .link, .other:
        skipped.append(LeftOut(path: path, reason: "it is not a regular file"))
      case .file:
        if let problem = problem(try FileReader.firstBytes(of: file, count: 64)) {
          skipped.append(LeftOut(path: path, reason: problem))
        } else {
          photos.append(
            Photo(
              url: file.url, path: path, byteCount: status.byteCount,
              modificationTime: status.modificationTime))
        }
      }
    } catch {
      unreadable.append(LeftOut(path: path, reason: Self.reason(error)))
    }
    return false
  }

  /// A path below the folder as text. Different paths have different texts, which are ids of images: one that
  /// is not UTF-8 begins with a full stop and a slash, like no other, and has hexadecimal numbers.
  private static func text(_ path: [UInt8]) -> String {
    String(validating: path, as: UTF8.self) ?? "./" + LocalPath(path).percentEncoded
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as SystemFailure: error.description
    case ImageSourceError.notFound: "No such file or directory"
    case ImageSourceError.unreadable(_, let reason): reason
    default: error.localizedDescription
    }
  }
}
