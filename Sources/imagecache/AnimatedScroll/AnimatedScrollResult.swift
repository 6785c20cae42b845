import CommandSupport
import Foundation

/// The figures of two ways to play animations, as text, as JSON and as a page.
struct AnimatedScrollResult: ScrollFigures {
  let title: String
  let methods: [ScrollResult.Method]

  var json: JSONValue {
    .object([
      "title": .string(title), "frames": .integer(ScrollPass.playedFrameCount),
      "methods": .array(
        methods.map { method in
          .members(
            method.json + [
              ("shown_frames", .integer(method.obtainedCount)),
              ("shown_frame_us", .number(method.microseconds)),
            ])
        }),
    ])
  }

  /// - Parameter strips: Of each method, some frames as PNG files.
  func page(_ strips: [[Data]]) -> HTMLPage {
    var page = page("Playing animations two ways", title + ".")
    page.addHeading("Work of each busy frame")
    page.addChart(
      FrameChart(series: methods.map(\.series), frameCount: ScrollPass.playedFrameCount))
    page.addHeading("A frame of each of the first animations, as both methods show it")
    for (index, (method, images)) in zip(methods, strips).enumerated() {
      page.addStrip(method.name, images: images, seriesIndex: index)
    }
    return page
  }

  var tableHeader: [String] {
    ScrollResult.Method.tableHeader + ["shown", "µs a shown frame"]
  }

  var tableRows: [[String]] {
    methods.map {
      $0.tableRow + ["\($0.obtainedCount)", String(format: "%.1f", $0.microseconds)]
    }
  }

  var notes: [String] {
    var notes = [
      "A busy frame of the screen brings the next frame of at least one animation. Work is the time of "
        + "the processor for these: to obtain each and to read all of its bytes once. All animations "
        + "were played \(ScrollResult.passCount) times; each figure is the median of these.",
      "Decoding keeps the frame before and the decoder of each animation in private memory, beside its "
        + "file, which is not counted.",
    ]
    if methods.count > 1, methods[0].microseconds > 0 {
      let ratio = methods[1].microseconds / methods[0].microseconds
      notes.insert(
        "A shown frame has \(Int(ratio.rounded())) times less work with the image table.", at: 0)
    }
    for method in methods {
      if let last = method.busyFrames.last?.number, last < methods[0].busyFrames.last?.number ?? 0 {
        notes.append("Playing was stopped at frame \(last) for \"\(method.name)\", to save time.")
      }
    }
    return notes
  }
}

extension ScrollResult.Method {
  /// Of work for each image that busy frames have obtained.
  fileprivate var microseconds: Double {
    work.values.reduce(0, +) * 1000 / Double(max(obtainedCount, 1))
  }
}
