import FastImageCache
import Foundation

extension Fixture {
  /// A cache whose hook a test scripts.
  init(
    _ formats: [ImageFormat] = [.row], source: ScriptedSource = ScriptedSource(),
    willStore hook: @escaping @Sendable (_ image: inout StoredImage) throws -> Void,
    configure: (inout ImageCache.Configuration) -> Void = { _ in }
  ) async throws {
    try await self.init(formats, source: source) { configuration in
      configuration.willStore = hook
      configure(&configuration)
    }
  }
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
