import Foundation
import TableStore

@testable import FastImageCache

extension OriginalStore {
  /// A store with a clock of its own, in seconds.
  static func timed(
    in folder: URL, byteLimit: Int, _ lifetime: Lifetime, now: @escaping @Sendable () -> Int64
  ) -> OriginalStore {
    OriginalStore(folder, byteLimit, lifetime, system: .live) { now() * 1_000_000 }
  }
}

extension OriginalStore {
  /// What is kept when all that was held is written.
  func settled() async throws -> [Original] {
    await settle()
    let kept: [Original] = try await inspect()
    return kept
  }
}

extension ImageCache.Configuration {
  /// A clock that stands.
  mutating func setNow(_ date: Date) { now = { date } }
}
