package import FastImageCache
import Foundation

/// What a file system knows of a path whose bytes need not be UTF-8.
package struct FileStatus {
  package enum Kind { case file, folder, link, other }

  package let kind: Kind
  package let byteCount: Int
  /// Seconds since 1970, with fractions.
  package let modificationTime: Double

  /// - Throws: ``SystemFailure`` with `stat(2)`'s code.
  package init(_ path: LocalPath, followsLinks: Bool = true) throws(SystemFailure) {
    var status = stat()
    let characters = path.characters
    guard (followsLinks ? stat(characters, &status) : lstat(characters, &status)) == 0 else {
      throw SystemFailure(code: errno)
    }
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    byteCount = Int(status.st_size)
    let time = status.modificationTime
    modificationTime = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// A system call's error number.
package struct SystemFailure: Error, CustomStringConvertible {
  package let code: CInt

  package var description: String { String(cString: strerror(code)) }
}

#if canImport(Darwin)
  extension stat {
    fileprivate var modificationTime: timespec { st_mtimespec }
  }
#else
  extension stat {
    fileprivate var modificationTime: timespec { st_mtim }
  }
#endif
