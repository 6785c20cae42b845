import FastImageCache

/// A cache whose table is full: from the call until pictures can be asked for, and closed again.
struct Open: Scenario {
  static let name = "open"
  static let summary = "opening and closing a cache whose table is full"

  func measure(_ setting: BenchSetting) async throws -> Measurement.Outcome {
    try await setting.makeFullCache(Self.name).close()
    return try await Measurement(batchSize: 1, runCount: 100).run { _ in
      let cache = try await setting.makeCache(Self.name)
      await cache.close()
    }
  }
}
