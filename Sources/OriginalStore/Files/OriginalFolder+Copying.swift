import Foundation
import TableStore

extension OriginalFolder {
  /// Writes the content of an original to a file of its own, in the place of what has that path.
  ///
  /// A new file is written beside the target and gets its name, so that the target is the old one or
  /// the whole new one, readable by this user only. A link at `path` is replaced and not followed.
  ///
  /// - Throws: `diskFull` or `system` when the copy cannot be made.
  func writeCopy(of content: Data, to path: String) throws(TableError) {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = String(parts.removeLast())
    // The folder itself may be a link.
    let parent = (parts.isEmpty ? "" : parts.joined(separator: "/") + "/") + "."
    try TableError.wrapping { () throws(SystemError) in
      let target = FileDescriptor(try system.openDirectory(parent))
      let begun = "." + BegunName.random()
      let file = FileDescriptor(try system.openFile(begun, in: target.value, .creating))
      do throws(SystemError) {
        let result = content.withUnsafeBytes { bytes in
          Result { () throws(SystemError) in try system.write(bytes, to: file.value, at: 0) }
        }
        try result.get()
        try system.rename(begun, to: name, in: target.value)
      } catch {
        // Beside a full disk there is nothing that could be done about a file that stays.
        try? system.unlink(begun, in: target.value)
        throw error
      }
    }
  }
}
