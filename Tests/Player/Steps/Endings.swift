import FastImageCache
import Foundation

extension Step {
  /// Requests that end only because they are given up.
  static let endings: [Step] = [
    Step("given up", [], need: .cache) { turn in
      let entity = SilentEntity(number: turn.number)
      let task = Task {
        try await turn.cache.image(for: entity, format: PlayFormats.row)
      }
      await turn.rest()
      if turn.plant == .lostCancel { return }
      task.cancel()
      do {
        _ = try await turn.call("a request that is given up") { try await task.value }
        turn.expect(false, "an answer of a source that gives none")
      } catch {
        // The error is the answer.
        let isCancelled = if case .cancelled = error as? ImageCacheError { true } else { false }
        turn.expect(isCancelled || turn.isTroubled, "\(error)")
      }
    }
  ]
}

/// An entity whose source waits until it is cancelled.
private struct SilentEntity: ImageEntity {
  let number: Int
  var imageID: ImageID { ImageID("silent \(number)") }
  func sourceURL(for format: ImageFormat) -> URL? { nil }

  func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse? {
    try await Task.sleep(for: .seconds(3_600))
    return nil
  }
}
