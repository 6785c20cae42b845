import FastImageCache
import Foundation

extension HTTPOptions {
  /// For tests that are not about time: on a machine that is busy with all tests at once, a server
  /// of this process may be silent for long.
  static var patient: HTTPOptions { .limited() }

  /// With limits in seconds, for tests that are about time; every request is sent once.
  static func limited(idle: Int = 800, total: Int = 800) -> HTTPOptions {
    var options = HTTPOptions()
    options.idleTimeout = .seconds(idle)
    options.totalTimeout = .seconds(total)
    options.lowestByteRate = 0
    options.retry = .never
    return options
  }
}

/// What a source brings, as bytes.
func bytes(
  _ url: URL, from source: URLImageSource = URLImageSource(http: .patient),
  limit: Int = 50 << 20,
  progress: @escaping @Sendable (ImageSourceProgress) -> Void = { _ in }
) async throws -> Data {
  let request = ImageSourceRequest(url: url, byteCountLimit: limit, progress: progress)
  guard let bytes = try await source.response(to: request).encodedData else {
    throw CocoaError(.coderInvalidValue)
  }
  return bytes
}
