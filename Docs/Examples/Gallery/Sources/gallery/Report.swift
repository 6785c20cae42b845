import Foundation

/// What one run has measured.
struct Report: Encodable {
  struct Percentiles: Encodable {
    let p50: Double
    let p99: Double

    init(_ meter: Meter, _ value: (Frame) -> Double) {
      p50 = meter.percentile(0.5, of: value)
      p99 = meter.percentile(0.99, of: value)
    }
  }

  let way: String
  let frames: Int
  /// Frames that brought a cell into view: the times are theirs.
  let busyFrames: Int
  let dropped: Int
  let oursMs: Percentiles
  let paintMs: Percentiles
  let mappedToPaintedMs: Percentiles
  let privateKB: Int
  let diskKB: Int
  /// Cells in view without an image, added up over all frames.
  let blankCells: Int

  private enum CodingKeys: String, CodingKey {
    case way, frames, dropped
    case busyFrames = "busy_frames"
    case oursMs = "ours_ms"
    case paintMs = "paint_ms"
    case mappedToPaintedMs = "mapped_to_painted_ms"
    case privateKB = "private_kB"
    case diskKB = "disk_kB"
    case blankCells = "blank_cells"
  }

  init(way: Way, meter: Meter, diskByteCount: Int) {
    self.way = way.rawValue
    frames = meter.frames.count
    busyFrames = meter.frames.count { $0.mappedCount > 0 }
    dropped = meter.droppedCount
    oursMs = Percentiles(meter) { $0.ours }
    paintMs = Percentiles(meter) { $0.work }
    mappedToPaintedMs = Percentiles(meter) { $0.mappedToPainted }
    privateKB = Meter.privateKilobytes
    diskKB = diskByteCount / 1000
    blankCells = meter.frames.reduce(0) { $0 + $1.blankCount }
  }

  var text: String {
    String(
      format: """
        %@: %d frames, %d dropped. A frame that brings cells: our handlers %.2f ms (p99 %.2f), all of it \
        %.1f ms (p99 %.1f). Private memory %.1f MB, disk %.1f MB, %d blank cells.
        """, way, frames, dropped, oursMs.p50, oursMs.p99, paintMs.p50, paintMs.p99,
      Double(privateKB) / 1000, Double(diskKB) / 1000, blankCells)
  }
}
