package import FastImageCache
import Foundation

/// The names in a folder as bytes, without hidden ones.
///
/// `FileManager` replaces the bytes of names that are not UTF-8, which are then the names of no file.
package struct FolderNames {
  package private(set) var names: [[UInt8]] = []

  /// - Throws: ``SystemFailure`` with the code of `opendir(3)` or `readdir(3)`.
  package init(_ folder: LocalPath) throws(SystemFailure) {
    guard let stream = opendir(folder.characters) else { throw SystemFailure(code: errno) }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw SystemFailure(code: errno) }
        return
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name.first != UInt8(ascii: ".") { names.append(name) }
    }
  }
}
