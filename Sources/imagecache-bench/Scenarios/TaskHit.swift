import FastImageCache

/// `await image(for:format:)` for a picture that is there, called in a task of no actor.
struct TaskHit: Scenario {
  static let name = "task-hit"
  static let summary = "await image(for:format:) of a picture that is there, in a background task"

  func measure(_ setting: BenchSetting) async throws -> Measurement.Outcome {
    try await setting.withFullCache(Self.name) { cache in
      try await Self.hit(cache, setting)
    }
  }

  @concurrent
  private static func hit(
    _ cache: ImageCache, _ setting: BenchSetting
  ) async throws -> Measurement.Outcome {
    try await Measurement(batchSize: 1000, runCount: 1000).run { number in
      let picture = BenchPicture(number &* 7919 % setting.pictureCount)
      _ = try await cache.image(for: picture, format: setting.format)
    }
  }
}
