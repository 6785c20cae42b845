import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("Opening a cache at once", .timeLimit(.minutes(10)))
struct OpeningAtOnceTests {
  private func configuration(_ directory: URL) -> ImageCache.Configuration {
    var configuration = ImageCache.Configuration()
    configuration.directory = directory
    configuration.source = ScriptedSource()
    return configuration
  }

  /// What a program knows before its first `await`.
  private func numberAtOnce(_ photo: Photo, _ directory: URL) throws -> Int? {
    let cache = try ImageCache.open(
      namespace: "test", formats: [.row], configuration: configuration(directory))
    return cache.cachedImage(for: photo, format: .row)?.solidNumber
  }

  @Test("finds what an earlier run stored, without an await")
  func findsImages() async throws {
    let directory = try TemporaryDirectory()
    let earlier = try await ImageCache(
      namespace: "test", formats: [.row], configuration: configuration(directory.url))
    try await earlier.store(solid(9), for: Photo("a"), format: .row)
    await earlier.close()
    #expect(try numberAtOnce(Photo("a"), directory.url) == 9)
  }

  @Test("opens the same tables as the initialiser that waits")
  func opensTheSame() async throws {
    let directory = try TemporaryDirectory()
    let configuration = configuration(directory.url)
    let atOnce = try ImageCache.open(
      namespace: "test", formats: [.row], configuration: configuration)
    let awaited = try await ImageCache(
      namespace: "test", formats: [.row], configuration: configuration)
    #expect(atOnce.directory == awaited.directory && atOnce.namespace == awaited.namespace)
    #expect(try await atOnce.image(for: Photo("a", url: "test:/4"), format: .row).solidNumber == 4)
    #expect(awaited.cachedImage(for: Photo("a", url: "test:/4"), format: .row)?.solidNumber == 4)
  }

  @Test("throws what keeps the tables shut")
  func throwsErrors() throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appendingPathComponent("file")
    try Data().write(to: file)
    do throws(ImageCacheError) {
      var configuration = configuration(file)
      configuration.requiresStorage = true
      _ = try ImageCache.open(formats: [.row], configuration: configuration)
      Issue.record("It was opened.")
    } catch {
      guard case .storageUnavailable = error else { throw error }
    }
    do throws(ImageCacheError) {
      _ = try ImageCache.open(namespace: "", formats: [.row])
      Issue.record("It was opened.")
    } catch {
      guard case .invalidNamespace("") = error else { throw error }
    }
    do throws(ImageCacheError) {
      _ = try ImageCache.open(
        formats: [.row, .row], configuration: configuration(directory.url))
      Issue.record("It was opened.")
    } catch {
      guard case .duplicateFormat("row") = error else { throw error }
    }
  }
}
