import CommandSupport
import FastImageCache
import Foundation

/// A picture that is not there: read from a file, decoded, drawn, stored.
struct Miss: Scenario {
  static let name = "miss"
  static let summary = "image(for:format:) of an 800x600 JPEG file that is not there yet"

  func measure(_ setting: BenchSetting) async throws -> Measurement.Outcome {
    let file = setting.place.url.appending(path: "photograph.jpg")
    try BenchPicture.writeFile(to: file)
    let cache = try await setting.makeCache(Self.name)
    do {
      let outcome = try await Measurement(batchSize: 1, runCount: 200).run { number in
        let picture = BenchPicture(number, file: file)
        _ = try await cache.image(for: picture, format: setting.format)
      }
      await cache.close()
      return outcome
    } catch {
      await cache.close()
      throw error
    }
  }
}
