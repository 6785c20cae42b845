import FastImageCache
import Foundation

/// Lends a cache with tables in a folder that its owner removes afterwards, and closes the cache.
func withScrollCache<Success>(
  _ format: ImageFormat, in directory: URL,
  configuring configure: (inout ImageCache.Configuration) -> Void = { _ in },
  _ body: (ImageCache) async throws -> Success
) async throws -> Success {
  var configuration = ImageCache.Configuration()
  configuration.directory = directory
  configure(&configuration)
  let cache = try await ImageCache(
    namespace: "scroll", formats: [format], configuration: configuration)
  let result: Result<Success, any Error>
  do {
    result = .success(try await body(cache))
  } catch {
    result = .failure(error)
  }
  await cache.close()
  return try result.get()
}
