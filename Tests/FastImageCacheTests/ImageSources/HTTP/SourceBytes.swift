import Foundation
import Testing

@testable import FastImageCache
@testable import ImageSources

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

  /// Has each request changed before it is sent.
  mutating func changeRequests(_ change: @escaping @Sendable (inout HTTPRequest) throws -> Void) {
    modifyRequest = { request in
      var request = request
      try change(&request)
      return request
    }
  }
}

extension URLImageSource {
  /// A source with changed options, whose pauses are as long as they may be.
  init(
    _ options: HTTPOptions = .patient, clock: any TimeoutClock = ContinuousClock(),
    _ change: (inout HTTPOptions) -> Void
  ) {
    var options = options
    change(&options)
    self.init(http: options, clock: clock, random: { 1 })
  }
}

/// The words of the network error that a load ends in.
func networkError(
  _ url: URL, from source: URLImageSource = URLImageSource(http: .patient)
) async -> String? {
  do {
    _ = try await bytes(url, from: source)
    Issue.record("It was loaded.")
  } catch ImageSourceError.network(let text) {
    return text
  } catch {
    Issue.record(error)
  }
  return nil
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
