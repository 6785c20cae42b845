import Foundation

/// A folder for the files of attacks, in memory where the system offers that; removed at the end.
final class ScratchFolder: Sendable {
  let url: URL

  init() throws {
    let shared = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
    let parent =
      FileManager.default.isWritableFile(atPath: shared.path)
      ? shared : FileManager.default.temporaryDirectory
    url = parent.appendingPathComponent("fastimagecache-attack-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // The folder may be gone already.
    try? FileManager.default.removeItem(at: url)
  }
}
