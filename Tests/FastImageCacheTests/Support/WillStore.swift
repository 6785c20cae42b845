import FastImageCache
import Foundation
import Locking

extension Fixture {
  /// A cache whose hook a test scripts; `cache` of the hook is this cache.
  init(
    _ formats: [ImageFormat] = [.row], source: ScriptedSource = ScriptedSource(),
    willStore hook:
      @escaping @concurrent @Sendable (_ image: inout PendingImage, KnownCache) async throws ->
      Void,
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws {
    let known = KnownCache()
    try await self.init(formats, source: source) { configuration in
      configuration.willStore = { try await hook(&$0, known) }
      configure(&configuration)
    }
    known.set(cache)
  }
}

/// The cache, as its hook sees it.
final class KnownCache: Sendable {
  private struct Weak: Sendable { weak let cache: ImageCache? }
  private let weak = Lock<Weak?>(nil)

  fileprivate func set(_ cache: ImageCache) { weak.withLock { $0 = Weak(cache: cache) } }

  /// The number of another picture.
  func number(of photo: Photo, format: ImageFormat = .row) async throws -> Int {
    guard let cache = weak.withLock({ $0?.cache }) else { throw CancellationError() }
    return try await cache.image(for: photo, format: format).solidNumber ?? -1
  }
}

extension PendingImage {
  /// The number in the URL.
  var number: Int { url.flatMap { Int($0.lastPathComponent) } ?? 0 }
}

/// The errors of hooks.
struct HookError: Error {}

/// The error that the hook threw for an entity.
func hookError<Value>(
  of entity: ImageID?, _ body: () async throws -> Value
) async -> (any Error)? {
  do {
    _ = try await body()
    return nil
  } catch ImageCacheError.willStoreFailed(entity, let underlying) {
    return underlying
  } catch {
    return nil
  }
}
