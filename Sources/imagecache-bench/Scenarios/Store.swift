import FastImageCache

/// A decoded picture of the slot's size, until hits find it; each takes the place of another.
struct Store: Scenario {
  static let name = "store"
  static let summary = "store(_:for:format:) of a 200x200 bitmap into a full table"

  func measure(_ setting: BenchSetting) async throws -> Measurement.Outcome {
    let bitmap = try BenchPicture.bitmap(setting.format.size)
    return try await setting.withFullCache(Self.name) { cache in
      try await Measurement(batchSize: 1, runCount: 2000).run { number in
        let picture = BenchPicture(setting.pictureCount + number)
        _ = try await cache.store(bitmap, for: picture, format: setting.format)
      }
    }
  }
}
