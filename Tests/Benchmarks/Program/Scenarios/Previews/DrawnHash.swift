import FastImageCache
import Foundation

/// A placeholder from its hash.
struct DrawnHash: Scenario {
  static let id = "F2"
  static let name = "drawn-hash"
  static let summary = """
    makeBitmap(proportions:) of a ThumbHash and of BlurHashes with few waves and with as many as there can be, \
    32 pixels along the longer side, as a view does in its first frame
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let thumb = Data(base64Encoded: "YJqGPQw7sFlslqhFafSE+Q6oJ1h2iHB2Rw==") ?? Data()
    let hashes: [(String, PlaceholderHash)] = [
      ("ThumbHash with alpha", .thumbHash(thumb)),
      ("BlurHash of 4 x 3", .blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")),
      ("BlurHash of 9 x 9", .blurHash("|0HV6n" + String(repeating: "k8", count: 80))),
    ]
    let square = PixelSize(width: 200, height: 200)
    let contenders = hashes.map { _, hash in
      Contest.Contender {
        try Contest.time(10) {
          for _ in 0..<10 { _ = try hash.makeBitmap(proportions: square) }
        } / 1e3
      }
    }
    let results = try await Contest(contenders).run(roundCount: setting.effort.roundCount)
    return Findings(
      zip(hashes, results).map { hash, times in
        Measure(
          Self.id, "\(hash.0), drawn", unit: "µs", ours: times, bar: .oursAtMost(200))
      })
  }
}
