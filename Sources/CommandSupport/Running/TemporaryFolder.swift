package import Foundation

/// A folder in the system's place for temporary files, which goes when its user does.
package final class TemporaryFolder: Sendable {
  package let url: URL

  /// - Throws: ``CommandFailure`` where the folder cannot be made.
  package init(prefix: String) throws(CommandFailure) {
    url = FileManager.default.temporaryDirectory.appending(
      path: "\(prefix)-\(UUID().uuidString)", directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure("A temporary folder cannot be made at \(url.path): \(error)")
    }
  }

  deinit { remove() }

  /// Removes the folder and all in it; earlier than the last reference goes, if that is wanted.
  package func remove() {
    // What is gone already, or cannot be removed, is the system's to clean.
    try? FileManager.default.removeItem(at: url)
  }
}
