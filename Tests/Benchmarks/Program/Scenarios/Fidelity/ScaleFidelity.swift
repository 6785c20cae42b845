import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs
import ImageDrawing

/// What each scale of a JPEG decode costs in decibels, by how much larger than drawn it is.
struct ScaleFidelity: Scenario {
  static let id = "scales"
  static let name = "scales"
  static let drawsPlot = true
  static let summary = """
    JPEG photographs decoded at 1/8, 1/4 and 1/2, drawn 1 to 4 times smaller than they were decoded, against \
    the same drawings from all pixels, in decibels; the mean and the worst of the photographs below \
    /usr/share/backgrounds, or of drawn landscapes where there are none
    """

  private static let factors = [1.0, 1.25, 1.5, 1.75, 1.85, 2, 2.3, 2.5, 3, 3.45, 4]

  func measure(_ setting: BenchSetting) async throws -> Findings {
    var found: [Int: [[Double]]] = [:]
    for data in try PhotographCorpus(setting.effort).wholeFiles() {
      try Task.checkCancellation()
      let decoder = try ImageDecoders.standard.decoder(for: data)
      let full = try decoder.decode(data, DecodeRequest())
      for eighths in [1, 2, 4] {
        let scaled = PixelSize(
          width: full.size.width * eighths / 8, height: full.size.height * eighths / 8)
        let bitmap = try decoder.decode(data, DecodeRequest(minimumSize: scaled))
        let decibels = try Self.factors.map { factor in
          let side = max(1, Int(Double(min(scaled.width, scaled.height)) / factor))
          let size = PixelSize(width: side, height: side)
          return FidelityRecord.decibels(
            of: try Self.drawn(bitmap, size), beside: try Self.drawn(full, size))
        }
        found[eighths, default: []].append(decibels)
      }
    }
    let curves = found.sorted { $0.key < $1.key }.flatMap { eighths, images in
      [("mean", Self.mean), ("worst", Self.worst)].map { name, summary in
        (
          name: "1/\(8 / eighths), \(name)",
          values: Self.factors.indices.map { index in summary(images.map { $0[index] }) }
        )
      }
    }
    let measures = curves.flatMap { curve in
      zip(Self.factors, curve.values).map { factor, value in
        Measure(
          Self.id, "\(curve.name), decoded \(factor) times as large as drawn", unit: "dB",
          ours: Distribution([value]))
      }
    }
    let plot = LinePlot(
      title: "What a smaller decode costs", xLabel: "decoded size / size drawn",
      yLabel: "decibels against all pixels", scale: .linear,
      lines: curves.map { curve in
        .init(name: curve.name, points: zip(Self.factors, curve.values).map { ($0, $1) })
      })
    return Findings(measures, plot: plot)
  }

  private static func mean(_ values: [Double]) -> Double {
    values.reduce(0, +) / Double(max(values.count, 1))
  }

  private static func worst(_ values: [Double]) -> Double { values.min() ?? 0 }

  private static func drawn(_ source: Bitmap, _ size: PixelSize) throws -> Bitmap {
    let layout = PixelLayout(for: size, format: .bgrx32)
    return try Bitmap(layout: layout) { bytes in
      try Drawing.aspectFill.draw(
        source, into: bytes, layout: layout, scale: 1, upTo: false, isCancelled: { false })
    }
  }
}
