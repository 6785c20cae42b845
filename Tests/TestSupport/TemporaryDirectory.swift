public import Foundation

/// A directory of its own for one test, removed with the last reference to it.
public final class TemporaryDirectory: Sendable {
  public let url: URL

  public init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("fastimagecache-test-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // The directory may be gone already.
    try? FileManager.default.removeItem(at: url)
  }
}
