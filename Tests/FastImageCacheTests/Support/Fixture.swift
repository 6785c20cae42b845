import Foundation
import TestSupport

@testable import FastImageCache

/// A cache in a directory of its own, above a source that the test scripts.
struct Fixture {
  let directory: TemporaryDirectory
  let source: ScriptedSource
  let cache: ImageCache

  init(
    _ formats: [ImageFormat] = [.row], source: ScriptedSource = ScriptedSource(),
    directory: TemporaryDirectory? = nil, device: ImageFormat.Devices = .desktop,
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws {
    self.source = source
    let directory = try directory ?? TemporaryDirectory()
    self.directory = directory
    var configuration = ImageCache.Configuration()
    configuration.directory = directory.url
    configuration.source = source
    configuration.device = device
    configure(&configuration)
    cache = try await ImageCache(
      namespace: "test", formats: formats, configuration: configuration)
  }

  init(
    _ formats: [ImageFormat] = [.row], from encoded: any ImageSource,
    originals: MemoryOriginals? = nil, directory: TemporaryDirectory? = nil,
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws {
    try await self.init(formats, directory: directory) { configuration in
      configuration.source = encoded
      if let originals { configuration.keeper = originals }
      configure(&configuration)
    }
  }

  /// Waits until that many callers and streams wait for loads, or the test's time is over.
  func subscribers(_ count: Int) async {
    while await cache.statistics().pendingRequests != count, !Task.isCancelled {
      await Task.yield()
    }
  }

  /// Waits until no load is under way, or the test's time is over.
  func quiet() async {
    while await cache.statistics().activeLoads != 0, !Task.isCancelled { await Task.yield() }
  }
}

extension Error {
  /// Whether this is how the cache tells a cancelled task of its cancellation.
  var isCancelled: Bool {
    if case .cancelled? = self as? ImageCacheError { true } else { false }
  }
}
