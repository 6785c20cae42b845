public import Foundation

/// A directory of its own for one test, removed with the last reference to it.
public final class TemporaryDirectory: Sendable {
  public let url: URL

  /// - Parameter inMemory: Prefers a folder whose files never reach a disk, for a test that makes
  ///   thousands of them.
  public init(inMemory: Bool = false) throws {
    let memory = "/dev/shm"
    let parent =
      inMemory && FileManager.default.isWritableFile(atPath: memory)
      ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
    url =
      parent
      .appendingPathComponent("fastimagecache-test-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // The directory may be gone already.
    try? FileManager.default.removeItem(at: url)
  }
}
