import CommandSupport
import FastImageCache
import Foundation

/// The figures of a list over a slow line, as text, as JSON and as a page.
struct SlowScrollResult: ScrollFigures {
  let plan: ScrollPlan
  let kilobits: Int
  /// Of the file of each place.
  let fileByteCounts: [Int]
  let photoCount: Int
  let passes: [SlowPass]

  var title: String {
    "\(plan.geometry.cellCount) images of \(plan.size) \(plan.pixelFormat.rawValue), "
      + "\(plan.geometry.columnCount * plan.geometry.visibleRowCount) on screen, over a line of "
      + "\(kilobits) kbit/s"
  }

  let tableHeader = [
    "pass", "first shown p50 ms", "p90 ms", "image p50 ms", "p90 ms", "previews", "became worse",
    "downloaded",
  ]

  var tableRows: [[String]] {
    passes.map { pass in
      let (first, last) = (pass.milliseconds(\.first), pass.milliseconds(\.last))
      return [
        pass.name, first.median.wholeText, first.percentile(90).wholeText, last.median.wholeText,
        last.percentile(90).wholeText, "\(pass.previewCount)", "\(pass.worseningCount)",
        pass.byteCount.byteText,
      ]
    }
  }

  var notes: [String] {
    let median = Int(Distribution(fileByteCounts.map(Double.init)).median)
    return [
      "The photographs are served as progressive JPEG files of at most "
        + "\(ProgressiveCopies.longestSide) pixels a side, \(median.byteText) at the median, "
        + "\(photoCount) of them for \(fileByteCounts.count) places, each under an address of its own.",
      "Times begin when an image comes into view. The list moves on by a screen when all of its "
        + "images are there. \"became worse\" counts moments at which something was shown that is "
        + "farther from the image than what was shown before.",
      "The last pass has the originals that the pass before has kept, and empty tables.",
    ]
  }

  /// The page, or its image alone.
  ///
  /// - Throws: The errors of drawing.
  func report(isImage: Bool) throws -> Data {
    // Originals are there before a second is over.
    let strips = StripImage(Array(passes.prefix(2)), format: plan.format)
    let png = try strips.png()
    if isImage { return png }
    var page = page("Scrolling a list over a slow line", title + ".")
    let time = strips.interval == 1 ? "each second" : "\(strips.interval) seconds"
    page.addHeading("The images on screen, one strip below the other for \(time)")
    page.addImage(
      "Left without previews, right with them. Gray is nothing. After ten strips there is a gap.",
      png)
    return Data(page.html.utf8)
  }

  var json: JSONValue {
    .object([
      "pictures": .integer(plan.geometry.cellCount), "kilobits_per_second": .integer(kilobits),
      "file_bytes": .integer(fileByteCounts.reduce(0, +) / max(fileByteCounts.count, 1)),
      "passes": .array(passes.map(Self.json)),
    ])
  }

  private static func json(_ pass: SlowPass) -> JSONValue {
    func times(_ distribution: Distribution) -> JSONValue {
      .object([
        "p50": .number(distribution.median), "p90": .number(distribution.percentile(90)),
      ])
    }
    return .object([
      "pass": .string(pass.name), "first_ms": times(pass.milliseconds(\.first)),
      "picture_ms": times(pass.milliseconds(\.last)), "previews": .integer(pass.previewCount),
      "became_worse": .integer(pass.worseningCount),
      "downloaded_bytes": .integer(pass.byteCount),
    ])
  }
}

extension SlowPass {
  fileprivate var previewCount: Int { places.reduce(0) { $0 + $1.previewCount } }
  fileprivate var worseningCount: Int { places.reduce(0) { $0 + $1.worseningCount } }

  fileprivate func milliseconds(_ time: (Place) -> Duration) -> Distribution {
    Distribution(places.map { time($0) / .milliseconds(1) })
  }
}

extension Double {
  fileprivate var wholeText: String { "\(Int(rounded()))" }
}
