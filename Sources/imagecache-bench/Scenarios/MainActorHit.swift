import FastImageCache

/// `await image(for:format:)` for a picture that is there, called on the main actor.
struct MainActorHit: Scenario {
  static let name = "main-actor-hit"
  static let summary = "await image(for:format:) of a picture that is there, on the main actor"

  func measure(_ setting: BenchSetting) async throws -> Measurement.Outcome {
    try await setting.withFullCache(Self.name) { cache in
      try await Self.hit(cache, setting)
    }
  }

  @MainActor
  private static func hit(
    _ cache: ImageCache, _ setting: BenchSetting
  ) async throws -> Measurement.Outcome {
    try await Measurement(batchSize: 1000, runCount: 1000).run { number in
      let picture = BenchPicture(number &* 7919 % setting.pictureCount)
      _ = try await cache.image(for: picture, format: setting.format)
    }
  }
}
