import CommandSupport
import FastImageCache
import Foundation

/// An image that is not in its table, and whose original is kept.
struct KeptMiss: Scenario {
  static let id = "S5"
  static let name = "kept-miss"
  static let summary = """
    a miss whose original is kept, until the photo is stored, against a miss of the same JPEG file \
    behind a file URL, in the same cache, with the whole process held to one core where the system \
    can (Linux); the kept original is proven, the file is not
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let sizes = [
      ("800 x 600 JPEG", setting.effort.photographs.small, 51),
      ("12 MP JPEG", setting.effort.photographs.large, 21),
    ]
    var measures: [Measure] = []
    for (name, size, roundCount) in sizes {
      let image = try KeptImage(size, setting)
      let configuration = KeptImage.configuration("kept-miss-\(size.width)", setting)
      measures += try await setting.withCache(
        "kept-miss-\(size.width)", formats: [KeptImage.format], configuration
      ) { cache in
        try await image.keep(in: cache, configuration.originals)
        let before = await cache.statistics()
        _ = try? Cores.hold(to: 1)
        defer { Cores.release() }
        let results = try await Contest([
          image.misses(of: image.address, in: cache),
          image.misses(of: image.file, in: cache),
        ]).run(roundCount: min(setting.effort.roundCount, roundCount))
        let now = await cache.statistics()
        let fileMissCount = (now.misses - before.misses) / 2
        return [
          Measure(
            Self.id, "miss from a kept original, \(name)", unit: "ms", ours: results[0],
            reference: results[1], named: "from a file URL", bar: .ratioAtMost(1.1)),
          .counted(
            Self.id, "fetches for \(fileMissCount) misses of kept originals, \(name)",
            now.fetches - before.fetches - fileMissCount, mustBe: 0),
        ]
      }
    }
    return Findings(measures)
  }
}
