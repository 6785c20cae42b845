import CommandSupport
import FastImageCache
import Foundation
import Locking
import LoopbackServer

/// The first preview of an image that comes slowly.
struct FirstPreview: Scenario {
  static let id = "S8"
  static let name = "first-preview"
  static let summary = """
    the first preview of a progressive JPEG file from a server on the loopback interface that takes 1.9 s to \
    send it, as 238 kB take at 1 Mbit/s: from the request on. Against the later of two moments: the server \
    had sent its first scan, and the 200 ms were over in which there is no preview
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = min(setting.effort.roundCount, 51)
    let file = try SlowFile(setting.effort)
    let scans = Lock<[String: ContinuousClock.Instant]>([:])
    let server = try file.serve(count) { path, byteCount in
      guard byteCount >= file.firstStageByteCount else { return }
      scans.withLock { if $0[path] == nil { $0[path] = .now } }
    }
    return try await setting.withCache(
      Self.name, formats: [SlowFile.format], .with { $0.source = SlowFile.source }
    ) { cache in
      var (ours, reference): ([Double], [Double]) = ([], [])
      for number in 0..<count {
        let image = BenchImage(number, file: server.url(SlowFile.path(number)))
        let start = ContinuousClock.now
        var shown: Duration?
        let steps = cache.progress(
          for: image, format: SlowFile.format, options: .previewing)
        for await step in steps {
          guard case .preview = step else { continue }
          shown = ContinuousClock.now - start
          // Leaving ends the load, whose image nobody else waits for.
          break
        }
        // A machine that is too busy to draw one for two seconds says nothing of this one.
        guard let shown, let scan = scans.withLock({ $0[SlowFile.path(number)] }) else { continue }
        ours.append(shown / .milliseconds(1))
        reference.append(max(scan - start, PreviewPolicy().delay) / .milliseconds(1))
      }
      guard !ours.isEmpty else { throw BenchFailure(description: "There was no preview.") }
      return Findings([
        Measure(
          Self.id, "first preview, \(file.bytes.count / 1000) kB in 1.9 s", unit: "ms",
          ours: Distribution(ours), reference: Distribution(reference),
          named: "its first scan and 200 ms", bar: .ratioAtMost(1.2),
          counts: [
            ("bytes", file.bytes.count), ("of the first scan", file.firstStageByteCount),
            ("without a preview", count - ours.count),
          ])
      ])
    }
  }
}
