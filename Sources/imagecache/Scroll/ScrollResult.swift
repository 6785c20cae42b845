import CommandSupport
import FastImageCache
import Foundation

/// The figures of a measurement, as text, as JSON and as a page.
struct ScrollResult: ScrollFigures {
  /// The count of passes of each way; a frame's figure is their median.
  static let passCount = 3

  /// Work after which decoding originals may stop before the end of the list.
  static let originalTimeLimit = Duration.seconds(8)

  struct Method {
    let name: String
    let busyFrames: [ScrollPass.BusyFrame]
    let privateByteCount: Int
    let majorFaultCount: Int
    let diskByteCount: Int
    /// Images that a pass has obtained in busy frames.
    let obtainedCount: Int

    var work: Distribution { Distribution(busyFrames.lazy.map(\.milliseconds)) }

    /// - Throws: ``CommandFailure`` if the passes did not read the same bytes: their times could
    ///   not be compared then.
    init(name: String, passes: [ScrollPass], diskByteCount: Int) throws {
      let times = passes.map { $0.busyFrames.map(\.milliseconds) }
      let numbers = passes.first?.busyFrames.map(\.number) ?? []
      guard Set(passes.map(\.byteSum)).count == 1 else {
        throw CommandFailure("The images of the \(name) changed while the list was scrolled.")
      }
      self.name = name
      busyFrames = zip(numbers, Distribution.medians(ofRuns: times)).map {
        ScrollPass.BusyFrame(number: $0, milliseconds: $1)
      }
      privateByteCount = passes.map(\.privateByteCount).max() ?? 0
      majorFaultCount = passes.reduce(0) { $0 + $1.majorFaultCount }
      self.diskByteCount = diskByteCount
      obtainedCount = passes.map(\.obtainedCount).max() ?? 0
    }
  }

  let plan: ScrollPlan

  /// Photographs in the list, each counted once.
  let imageCount: Int
  let methods: [Method]

  private var geometry: ScrollGeometry { plan.geometry }

  var json: JSONValue {
    .object([
      "pictures": .integer(imageCount), "rows": .integer(geometry.rowCount),
      "frames": .integer(geometry.frameCount), "methods": .array(methods.map { .members($0.json) }),
    ])
  }

  var title: String {
    "\(geometry.cellCount) images of \(plan.size) \(plan.pixelFormat.rawValue) in "
      + "\(geometry.rowCount) rows of \(geometry.columnCount), \(geometry.frameCount) frames of "
      + "\(geometry.speed) pixels"
  }

  var tableHeader: [String] { Method.tableHeader }

  var tableRows: [[String]] { methods.map(\.tableRow) }

  /// - Parameter strips: Of each method, the first images of the list as PNG files.
  func page(_ strips: [[Data]]) -> HTMLPage {
    var page = page(
      "Scrolling a list of photographs three ways",
      "\(title). A frame's work is to obtain each image that came into view, to read all of "
        + "its bytes once, and to let go of those that went out of view. A frame has 16.7 ms at 60 "
        + "frames a second and 8.3 ms at 120, for everything that an app does.")
    page.addHeading("Work of each busy frame")
    page.addChart(FrameChart(series: methods.map(\.series), frameCount: geometry.frameCount))
    page.addHeading("The first images of the list, as each method shows them")
    for (index, (method, images)) in zip(methods, strips).enumerated() {
      page.addStrip(method.name, images: images, seriesIndex: index)
    }
    page.addHeading("What the table costs")
    page.addParagraph(
      "Decoded images take several times the disk of JPEG files, and from a cold disk they are no "
        + "faster: both wait for it. Where a few small thumbnails are all there is to show, JPEG "
        + "files do not drop frames either; there the gain is work and memory, not smoothness.")
    return page
  }

  var notes: [String] {
    var notes: [String] = []
    if let ratio = tableAdvantage {
      notes.append(
        "A busy frame has \(Int(ratio.rounded())) times less work "
          + "with the image table than with cached thumbnails (p50).")
    }
    notes.append(
      "Busy frames bring at least one row into view. Each list was scrolled \(Self.passCount) times; "
        + "a frame's figure is the median. Private memory is what a screen of images added.")
    if imageCount < geometry.cellCount {
      notes.append(
        "There are \(imageCount) photographs for \(geometry.cellCount) places, so they appear "
          + "again under other ids and in other crops.")
    }
    for method in methods {
      if let last = method.busyFrames.last?.number, last < lastBusyFrame {
        notes.append("The list was stopped at frame \(last) for \"\(method.name)\", to save time.")
      }
      if method.majorFaultCount > 0 {
        notes.append(
          "\"\(method.name)\" waited for the disk \(method.majorFaultCount) times (major faults).")
      }
    }
    return notes
  }

  private var lastBusyFrame: Int { methods.first?.busyFrames.last?.number ?? 0 }

  private var tableAdvantage: Double? {
    guard methods.count > 1, methods[0].work.median > 0 else { return nil }
    return methods[1].work.median / methods[0].work.median
  }
}

extension ScrollResult.Method {
  static let tableHeader = [
    "method", "busy frames", "p50 ms", "p99 ms", "max ms", "> 8.3 ms", "> 16.7 ms",
    "private memory", "disk",
  ]

  /// As `tableHeader` says.
  var tableRow: [String] {
    let work = work
    return [
      name, "\(work.count)", work.median.millisecondText, work.p99.millisecondText,
      work.maximum.millisecondText, "\(work.count(above: 8.3))", "\(work.count(above: 16.7))",
      privateByteCount.byteText, diskByteCount.byteText,
    ]
  }

  var series: FrameChart.Series {
    FrameChart.Series(
      name: name, points: busyFrames.map { (frame: $0.number, milliseconds: $0.milliseconds) })
  }

  var json: [(String, JSONValue)] {
    let work = work
    return [
      ("method", .string(name)), ("busy_frames", .integer(work.count)),
      (
        "busy_ms",
        .object([
          "p50": .number(work.median), "p99": .number(work.p99), "max": .number(work.maximum),
        ])
      ),
      ("frames_over_8_3", .integer(work.count(above: 8.3))),
      ("frames_over_16_7", .integer(work.count(above: 16.7))),
      ("private_bytes", .integer(privateByteCount)), ("disk_bytes", .integer(diskByteCount)),
    ]
  }
}
