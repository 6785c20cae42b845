import CommandSupport
import FastImageCache

/// The mean closeness of small images to their photographs.
struct MeanFidelity: Scenario {
  static let id = "Q1"
  static let name = "fidelity"
  static let summary = """
    a JPEG photograph of 90 % quality and odd sides, shown at 200 x 200 by image(for:format:), against all \
    of its pixels and an antialiased bilinear reduction of exactly the same part, in double precision: peak \
    signal to noise ratio of red, green and blue in decibels, the mean over the photographs below \
    /usr/share/backgrounds, three parts of each; drawn landscapes where there are none; for formats whose \
    decoding is balanced, and finest
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let record = try await setting.fidelity()
    return Findings(
      FidelityRecord.decodings.map { decoding in
        let decibels = record.decibels(decoding)
        let mean = decibels.reduce(0, +) / Double(max(decibels.count, 1))
        return Measure(
          Self.id, "mean fidelity of \(record.images) at 200 x 200, \(decoding.rawValue)",
          unit: "dB", ours: Distribution([mean]), bar: .oursAtLeast(54),
          counts: record.counts(decoding))
      })
  }
}

/// The closeness of the small image that is furthest from its photograph.
struct WorstFidelity: Scenario {
  static let id = "Q2"
  static let name = "worst-fidelity"
  static let summary = "the worst of the images of Q1"

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let record = try await setting.fidelity()
    return Findings(
      FidelityRecord.decodings.map { decoding in
        let worst = record.ranking(decoding).first?.name ?? "none"
        return Measure(
          Self.id,
          "worst fidelity of \(record.images) at 200 x 200, \(decoding.rawValue): \(worst)",
          unit: "dB", ours: Distribution(record.decibels(decoding).min().map { [$0] } ?? []),
          bar: .oursAtLeast(decoding == .best ? 50 : 48), counts: record.counts(decoding))
      })
  }
}
