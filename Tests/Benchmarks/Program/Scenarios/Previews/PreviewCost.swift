import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation
import LoopbackServer

/// The processor time of all previews of one image.
struct PreviewCost: Scenario {
  static let id = "S9"
  static let name = "preview-cost"
  static let summary = """
    the processor time of the decodes of all previews of the file of S8, which takes 1.9 s to come, against \
    libjpeg's decode of all its scans at the same scale, and against the time of the transfer
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = min(setting.effort.roundCount, 11)
    let file = try SlowFile(setting.effort)
    let onDisk = setting.place.url.appending(path: "slow.jpg")
    try file.bytes.write(to: onDisk)
    let server = try file.serve(count) { _, _ in }
    let record = DecodeRecord()
    return try await setting.withCache(
      Self.name, formats: [SlowFile.format],
      .with { ($0.source, $0.decoders) = (SlowFile.source, record.decoders) }
    ) { cache in
      var (ours, decodes, transfers): ([Double], [Double], [Double]) = ([], [], [])
      var previewCount = 0
      for number in 0..<count {
        let image = BenchImage(number, file: server.url(SlowFile.path(number)))
        let start = ContinuousClock.now
        for try await _ in cache.updates(for: image, format: SlowFile.format) {}
        let (work, transfer) = (record.take(), ContinuousClock.now - start)
        // A machine that is too busy to draw one for two seconds says nothing of their cost.
        guard work.previewCount > 0 else { continue }
        transfers.append(transfer / .milliseconds(1))
        previewCount = max(previewCount, work.previewCount)
        ours.append(work.previewTime / .milliseconds(1))
        decodes.append(try Self.decode(onDisk, width: work.previewWidth, of: setting.effort))
      }
      guard !ours.isEmpty else { throw BenchFailure(description: "There was no preview.") }
      let counts = [("bytes", file.bytes.count), ("previews at most", previewCount)]
      return Findings([
        Measure(
          Self.id, "all previews of an image", unit: "ms", ours: Distribution(ours),
          reference: Distribution(decodes), named: "libjpeg's decode of all scans",
          bar: .ratioAtMost(1), counts: counts),
        Measure(
          Self.id, "all previews of an image, of a core", unit: "ms", ours: Distribution(ours),
          reference: Distribution(transfers), named: "the transfer", bar: .ratioAtMost(0.1)),
      ])
    }
  }

  /// Processor time of libjpeg's decode at the scale of the previews, in milliseconds.
  private static func decode(_ file: URL, width: Int, of effort: Effort) throws -> Double {
    let full = effort.usualPhotograph.width
    let eighths = max((width * 8 + full / 2) / full, 1)
    let start = ProcessorTime.ofThread
    var (columns, rows) = (0, 0)
    let path = file.path(percentEncoded: false)
    guard bench_decode_jpeg(path, CInt(eighths), &columns, &rows) == 0 else {
      throw BenchFailure(description: "libjpeg did not decode \"\(path)\".")
    }
    return (ProcessorTime.ofThread - start) / .milliseconds(1)
  }
}
