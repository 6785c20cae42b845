import CommandSupport
import FastImageCache
import Foundation

/// A miss whose drawing has a filter.
struct FilteredMiss: Scenario {
  static let id = "F1"
  static let name = "filtered-miss"
  static let summary = """
    image(for:format:) of a JPEG file that is not there yet until the photo is stored, blurred by 8 \
    points, or with four filters for colours, with the whole process held to one core where the system can, \
    against the same miss without filters
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let (large, _, small) = setting.effort.photographs
    var measures: [Measure] = []
    for (name, size) in [("12 MP JPEG", large), ("800 x 600 JPEG", small)] {
      let size = PixelSize(width: size.width, height: size.height)
      let file = setting.place.url.appending(path: "filtered-\(size.width).jpg")
      try setting.photographs.writeFile(3, size: size, to: file)
      let roundCount = min(setting.effort.roundCount, size.width > 2000 ? 21 : 51)
      measures += try await Self.compare(name, file, roundCount, setting)
    }
    return Findings(measures)
  }

  private static let format = ImageFormat(
    name: "filtered", size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: .bgrx32,
    capacity: .count(64))

  /// An image with filters.
  private struct Filtered: ImageEntity {
    let image: BenchImage
    let drawing: Drawing

    var imageID: ImageID { image.imageID }
    func sourceURL(for format: ImageFormat) -> URL? { image.file }
    func drawing(for format: ImageFormat) -> Drawing { drawing }
  }

  private static func compare(
    _ name: String, _ file: URL, _ roundCount: Int, _ setting: BenchSetting
  ) async throws -> [Measure] {
    try await setting.withCache(
      "filtered", formats: [format], .with { $0.resources = LoadResources(decodeWidth: 1) }
    ) { cache in
      var number = 0
      func contender(_ filters: [Drawing.Filter]) -> Contest.Contender {
        Contest.Contender {
          // The rest of the load before belongs to its miss.
          while await cache.statistics().activeLoads > 0 { await Task.yield() }
        } turn: {
          number += 1
          let image = Filtered(
            image: BenchImage(number, file: file), drawing: .aspectFill.filtered(filters))
          return try await Contest.time(1) {
            _ = try await cache.image(for: image, format: format)
          }
            / 1e6
        }
      }
      let isHeld = (try? Cores.hold(to: 1)) != nil
      defer { Cores.release() }
      let colors: [Drawing.Filter] = [
        .saturation(0.5), .contrast(1.2), .sepia(0.3), .tint(.blue, blendMode: .softLight),
      ]
      let results = try await Contest([
        contender([]), contender([.blur(radius: 8)]), contender(colors),
      ]).run(roundCount: roundCount)
      return [("blurred", 1, Bar.ratioAtMost(1.25)), ("coloured", 2, nil)].map { what, index, bar in
        Measure(
          id, "\(what) miss, \(name) to 200 x 200", unit: "ms", ours: results[index],
          reference: results[0], named: "plain miss", bar: bar,
          counts: [("cores held to", isHeld ? 1 : 0)])
      }
    }
  }
}
