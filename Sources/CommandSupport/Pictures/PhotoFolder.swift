package import Foundation

/// The picture files below a folder, recognised by their bytes and not by their names.
package struct PhotoFolder: Sendable {
  /// A file that is a picture.
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
  /// Files that are no pictures.
  package private(set) var skipped: [LeftOut] = []
  /// Files and folders that cannot be read.
  package private(set) var unreadable: [LeftOut] = []

  /// Looks at every file below `folder`; hidden ones are left alone.
  ///
  /// - Parameter problem: Receives a file's first bytes, up to 64, and says why they are no picture;
  ///   `nil` for a picture.
  /// - Throws: ``UsageError`` for a path that is no folder that can be read.
  package init(_ folder: String, problem: (Data) -> String?) throws(UsageError) {
    var isDirectory = false
    do {
      let values = try URL(filePath: folder).resourceValues(forKeys: [.isDirectoryKey])
      isDirectory = values.isDirectory ?? false
    } catch {
      throw UsageError("The folder \"\(folder)\" cannot be read: \(Self.reason(error)).")
    }
    guard isDirectory else { throw UsageError("\"\(folder)\" is a file and not a folder.") }

    let root = URL(filePath: folder, directoryHint: .isDirectory).resolvingSymlinksInPath()
    var unlisted: [LeftOut] = []
    let files = FileManager.default.enumerator(
      at: root, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles]
    ) { url, error in
      unlisted.append(
        LeftOut(path: Self.path(of: url, below: root), reason: Self.reason(error)))
      return true
    }
    guard let files else { throw UsageError("The folder \"\(folder)\" cannot be read.") }
    for case let url as URL in files { add(url, below: root, problem) }
    unreadable += unlisted
    photos.sort { $0.path < $1.path }
    skipped.sort { $0.path < $1.path }
    unreadable.sort { $0.path < $1.path }
  }

  private mutating func add(_ url: URL, below root: URL, _ problem: (Data) -> String?) {
    let path = Self.path(of: url, below: root)
    do {
      // Only regular files are opened: opening a pipe would wait for its writer.
      let file = url.resolvingSymlinksInPath()
      let keys: Set<URLResourceKey> = [
        .isRegularFileKey, .isDirectoryKey, .isSymbolicLinkKey, .fileSizeKey,
        .contentModificationDateKey,
      ]
      let values = try file.resourceValues(forKeys: keys)
      if values.isDirectory == true { return }
      if values.isSymbolicLink == true {
        // Links that lead to a file or folder were followed.
        unreadable.append(LeftOut(path: path, reason: "its link leads nowhere"))
        return
      }
      guard values.isRegularFile == true else {
        skipped.append(LeftOut(path: path, reason: "it is not a regular file"))
        return
      }
      let handle = try FileHandle(forReadingFrom: file)
      defer { try? handle.close() }
      let firstBytes = try handle.read(upToCount: 64) ?? Data()
      if let problem = problem(firstBytes) {
        skipped.append(LeftOut(path: path, reason: problem))
        return
      }
      photos.append(
        Photo(
          url: file, path: path, byteCount: values.fileSize ?? 0,
          modificationTime: values.contentModificationDate?.timeIntervalSince1970 ?? 0))
    } catch {
      unreadable.append(LeftOut(path: path, reason: Self.reason(error)))
    }
  }

  private static func path(of url: URL, below root: URL) -> String {
    let (own, base) = (url.pathComponents, root.pathComponents)
    return own.dropFirst(base.count).joined(separator: "/")
  }

  /// The system's own words, without the text that Foundation puts around them.
  private static func reason(_ error: any Error) -> String {
    let error = error as NSError
    let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
    if underlying.domain == NSPOSIXErrorDomain {
      return String(cString: strerror(Int32(truncatingIfNeeded: underlying.code)))
    }
    switch CocoaError.Code(rawValue: error.code) {
    case .fileReadNoSuchFile, .fileNoSuchFile: return "No such file or directory"
    case .fileReadNoPermission: return "Permission denied"
    default: return error.localizedDescription
    }
  }
}
