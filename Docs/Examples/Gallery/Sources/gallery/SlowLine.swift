import FastImageCache
import Synchronization

/// Brings files at once, or as a slow network does while it is told to.
nonisolated final class SlowLine: ImageSource {
  let isSlow = Atomic(false)
  private let files = URLImageSource()

  @concurrent
  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let response = try await files.response(to: request)
    let count = response.encodedData?.count ?? 0
    var arrived = 0
    while isSlow.load(ordering: .relaxed), arrived < count {
      try await Task.sleep(for: .milliseconds(100))
      arrived = min(arrived + 50_000, count)
      request.report(ImageSourceProgress(receivedByteCount: arrived, expectedByteCount: count))
    }
    return response
  }
}
