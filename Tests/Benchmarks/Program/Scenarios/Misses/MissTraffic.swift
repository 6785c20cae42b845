import CommandSupport
import FastImageCache
import Foundation

/// The bytes that a miss moves between its file and its slot.
struct MissTraffic: Scenario {
  static let id = "M1"
  static let name = "miss-traffic"
  static let summary = """
    the bytes that a miss of a JPEG file reads and writes between the file and the slot, by a model: each \
    pass over the file, the decoded bitmap and the slot's picture counts its bytes, with the sizes that \
    the cache has in this run. libjpeg's own rows, the resampler's sums and a progressive file's \
    coefficients count for neither side. Against a miss that reads the file in place and writes the \
    slot as it decodes: the file once in, the slot once out. callgrind counts the same: --only large-misses
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let (large, _, small) = setting.effort.photographs
    var measures: [Measure] = []
    for (name, size) in [("12 MP JPEG", large), ("800 x 600 JPEG", small)] {
      let size = PixelSize(width: size.width, height: size.height)
      let traffic = try await Self.traffic(of: size, setting)
      measures.append(
        Measure(
          Self.id, "bytes moved by a miss, \(name) to 200 x 200", unit: "bytes",
          ours: Distribution([Double(traffic.byteCount)]),
          reference: Distribution([Double(traffic.floorByteCount)]),
          named: "the file once in, the slot once out", counts: traffic.passes))
    }
    return Findings(measures)
  }

  /// Has a cache load a photograph of a size, and looks at what it decoded.
  private static func traffic(of size: PixelSize, _ setting: BenchSetting) async throws -> Traffic {
    let file = setting.place.url.appending(path: "traffic-\(size.width).jpg")
    try setting.photographs.writeFile(3, size: size, to: file)
    let format = ImageFormat(
      name: "traffic", size: PixelSize(width: 200, height: 200), pixelFormat: .bgrx32,
      capacity: .count(4))
    let record = DecodeRecord()
    return try await setting.withCache(
      "traffic-\(size.width)", formats: [format], .with { $0.decoders = record.decoders }
    ) { cache in
      _ = try await cache.image(for: BenchPicture(0, file: file), format: format)
      let slot = PixelLayout(for: format.size, format: format.pixelFormat).byteCount
      return Traffic(
        file: try Data(contentsOf: file, options: .alwaysMapped).count,
        bitmap: record.lastByteCount, slot: slot)
    }
  }
}

/// The passes of one miss over its three large pieces of memory.
struct Traffic {
  /// Bytes of the encoded file.
  let file: Int
  /// Bytes of the bitmap that the decoder makes.
  let bitmap: Int
  /// Bytes of the slot's pixels.
  let slot: Int

  /// In their order.
  var passes: [(name: String, value: Int)] {
    [
      ("read by read(2)", file), ("written by read(2)", file), ("read by libjpeg", file),
      ("written by libjpeg", bitmap), ("read by the drawing", bitmap),
      ("written by the drawing", slot), ("read by the hash", slot), ("read by pwrite(2)", slot),
      ("written by pwrite(2)", slot),
    ]
  }

  var byteCount: Int { passes.reduce(0) { $0 + $1.value } }

  /// The file read once, by the decoder, and the slot written once, by the drawing.
  var floorByteCount: Int { file + slot }
}
