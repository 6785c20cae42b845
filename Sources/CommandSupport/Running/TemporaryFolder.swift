package import Foundation

/// A folder among the system's temporary files, removed with its last reference.
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

  /// Removes the folder and its contents before the last reference ends.
  package func remove() {
    // The folder may be gone already; the system cleans up the rest.
    try? FileManager.default.removeItem(at: url)
  }
}
