import FastImageCache
import Foundation

/// What a source brings, as bytes.
func bytes(
  _ url: URL, from source: URLImageSource = URLImageSource(), limit: Int = 50 << 20,
  progress: @escaping @Sendable (ImageSourceProgress) -> Void = { _ in }
) async throws -> Data {
  let request = ImageSourceRequest(url: url, byteCountLimit: limit)
  guard case .encoded(let bytes) = try await source.load(request, progress: progress) else {
    throw CocoaError(.coderInvalidValue)
  }
  return bytes
}
