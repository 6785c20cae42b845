import FastImageCache

/// `cachedImage(for:format:)` for a picture that is there: lookup, lease, handle, release.
struct SynchronousHit: Scenario {
  static let name = "synchronous-hit"
  static let summary = "cachedImage(for:format:) of a picture that is there"

  func measure(_ setting: BenchSetting) async throws -> Measurement.Outcome {
    try await setting.withFullCache(Self.name) { cache in
      try Measurement(batchSize: 1000, runCount: 1000).run { number in
        let picture = BenchPicture(number &* 7919 % setting.pictureCount)
        guard cache.cachedImage(for: picture, format: setting.format) != nil else {
          throw BenchFailure.missingPicture
        }
      }
    }
  }
}
