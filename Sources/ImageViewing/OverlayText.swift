import FastImageCache

extension ImagePlace {
  /// What a debugging overlay says of the image on screen: where it came from, its sizes, and the time of each step.
  package var overlayText: String {
    guard let request else { return "no entity" }
    guard let image else { return "\(request.format)\n\(isWaiting ? "loading" : "nothing")" }
    return OverlayText.text(of: image, request.format, report)
  }
}

/// The text of a debugging overlay; pure.
enum OverlayText {
  static func text(of image: CachedImage, _ format: ImageFormat, _ report: LoadReport?) -> String {
    var lines = [
      report.map { "\($0.origin)" } ?? "table",
      "\(format.name) \(image.size)\(image.isPrivate ? ", not kept" : "")",
    ]
    let byteCount = image.layout.byteCount
    guard let report else { return (lines + [bytes(byteCount)]).joined(separator: "\n") }
    lines.append("\(bytes(report.fetchedByteCount)) fetched, \(bytes(byteCount)) shown")
    let steps = [
      ("wait", report.waitDuration), ("fetch", report.fetchDuration),
      ("decode", report.decodeDuration), ("draw", report.drawDuration),
      ("store", report.storeDuration),
    ]
    lines.append(
      steps.filter { $0.1 > .zero }.map { "\($0.0) \(milliseconds($0.1))" }
        .joined(separator: ", "))
    lines.append("\(milliseconds(report.totalDuration)) in all")
    return lines.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private static func bytes(_ count: Int) -> String {
    count < 10_000 ? "\(count) B" : "\(count / 1000) kB"
  }

  private static func milliseconds(_ duration: Duration) -> String {
    "\((duration / .microseconds(100)).rounded() / 10) ms"
  }
}
