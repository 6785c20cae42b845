import CommandSupport
import FastImageCache
import Foundation

/// Scrolls a long list of photographs three ways and compares the work of each frame; or shows one whose
/// images come over a slow line, or animations.
struct ScrollCommand: Command {
  static let name = "scroll"

  static let grammar = ArgumentGrammar(
    command: "imagecache scroll",
    summary: "Scrolls a list of photographs three ways and compares the work per frame.",
    operands: [
      .init("FOLDER", isRequired: false, help: "photographs; drawn by the command without it")
    ],
    options: [
      .value("--size", "WxH", help: "pixels of an image in the list (200x200)"),
      .value("--pixel-format", "S", help: "bgra32, bgrx32, bgr16 or gray8 (bgrx32)"),
      .value("--columns", "N", help: "images in a row (5)"),
      .value(
        "--rows", "N",
        help: "rows of the list (as many as make 1000 images, 20 over a slow network)"),
      .value("--speed", "PX", help: "pixels scrolled in a frame (60)"),
      .value(
        "--slow-network", "KBIT",
        help: "downloads the images over a line of so many kbit/s instead"),
      .flag("--animated", help: "plays the animations of FOLDER instead, 160x160 bgra32 each"),
      .flag("--json", help: "prints one JSON object instead of text"),
      .value(
        "--report", "FILE.html",
        help: "writes a page with the chart of all frames, or with the screen\nof each second"),
    ],
    discussion: """
      The three ways, with the same images in the same places:

        image table       the images lie decoded in a memory-mapped file
        cached thumbnail  JPEG files of the right size, as other libraries keep them
        decode original   the photograph is read, decoded at reduced size and drawn

      A frame's work is to obtain each image that came into view, to read all of its bytes once,
      and to let go of those that went out of view. Nothing is paced: what counts is how long the
      work takes, against 8.3 ms (120 frames a second) and 16.7 ms (60 frames a second).

      With --slow-network the command makes progressive copies of the photographs, at most 1600 pixels
      a side, and serves them on this machine at that rate, shared by all downloads. The list moves
      on by a screen when all of its images are there: once without previews, once with them, and
      once more with empty tables and the originals that were kept. It says when the first thing
      and when the image was shown, at the median and for nine of ten. A report whose name ends
      in .png is the image alone: a strip of the screen for each second, without previews on the
      left, with them on the right. Twenty images take a minute or two at 2000 kbit/s.

      With --animated all animations of FOLDER play at once for ten seconds of 60 frames: once from
      image tables, where each of their frames lies decoded, and once decoded anew in each loop. The
      work is the processor's time.

      Measure with a release build: swift run -c release imagecache scroll
      """)

  private let folder: String?
  private let report: String?
  private let isJSON: Bool
  private let plan: ScrollPlan
  /// Of the slow line, if there is one.
  private let kilobits: Int?
  private let isAnimated: Bool

  init(_ arguments: Arguments) throws {
    folder = arguments.operands.first
    report = arguments.value("--report")
    isJSON = arguments.hasFlag("--json")
    isAnimated = arguments.hasFlag("--animated")
    let usualSide = isAnimated ? 160 : 200
    let size = try arguments.size("--size") ?? PixelSize(width: usualSide, height: usualSide)
    let columns = try arguments.integer("--columns", in: 1...1000) ?? 5
    kilobits = try arguments.integer("--slow-network", in: 8...1_000_000)
    guard kilobits == nil || arguments.value("--speed") == nil else {
      throw UsageError("--speed says nothing of a list that moves on when its images are there.")
    }
    if isAnimated {
      guard folder != nil else { throw UsageError("--animated needs FOLDER.") }
      for option in ["--columns", "--rows", "--speed", "--slow-network"]
      where arguments.value(option) != nil {
        throw UsageError("\(option) says nothing of animations, which do not move on.")
      }
    }
    let imageCount = kilobits == nil ? 1000 : 20
    let usualRows = max((imageCount + columns - 1) / columns, 2)
    plan = ScrollPlan(
      size: size,
      pixelFormat: try arguments.pixelFormat("--pixel-format") ?? (isAnimated ? .bgra32 : .bgrx32),
      geometry: ScrollGeometry(
        columnCount: columns,
        rowCount: try arguments.integer("--rows", in: 2...100_000) ?? usualRows,
        rowHeight: size.height,
        speed: try arguments.integer("--speed", in: 1...1_000_000) ?? 60))
    if let report, !FileManager.default.isWritableFile(atPath: Self.folder(of: report)) {
      throw UsageError("The report cannot be written to \"\(report)\".")
    }
  }

  func run() async throws -> ExitStatus {
    let place = try TemporaryFolder(prefix: "imagecache-scroll")
    defer { place.remove() }
    if isAnimated, let folder {
      let (result, strips) = try await AnimatedScroll(
        size: plan.size, pixelFormat: plan.pixelFormat
      ).run(PhotoRecognition.photos(in: folder), in: place)
      try writeReport { _ in Data(result.page(strips).html.utf8) }
      return print(result)
    }
    let photos = try await photos(in: place)
    if let kilobits {
      let result = try await SlowScroll(plan: plan, kilobits: kilobits).run(photos, in: place)
      try writeReport { try result.report(isImage: $0) }
      return print(result)
    }
    let tables = place.url.appending(path: "tables", directoryHint: .isDirectory)
    let result = try await withScrollCache(plan.format, in: tables) { cache in
      let stage = ScrollStage(plan, photos: photos, in: place, cache)
      try await stage.warmUp()
      let result = try stage.measure()
      try writeReport { _ in Data(result.page(try stage.strips()).html.utf8) }
      return result
    }
    if isJSON { for note in result.notes { Console.note(note) } }
    return print(result)
  }

  private func print(_ result: some ScrollFigures) -> ExitStatus {
    Console.print(isJSON ? result.json.text : result.text)
    return .success
  }

  /// - Parameter make: Is told whether the name asks for an image instead of a page.
  private func writeReport(_ make: (_ isImage: Bool) throws -> Data) throws {
    guard let report else { return }
    let file = try URL(argument: report)
    try OutputFile.write(make(file.pathExtension.lowercased() == "png"), to: file)
    Console.note("The report is in \(report).")
  }

  private func photos(in place: TemporaryFolder) async throws -> [PhotoFolder.Photo] {
    guard let folder else {
      let count = min(SamplePhotographs.usualCount, plan.geometry.cellCount)
      let samples = place.url.appending(path: "photographs", directoryHint: .isDirectory)
      try await SamplePhotographs.write(count, to: samples)
      return try PhotoRecognition.photos(in: samples.path(percentEncoded: false))
    }
    return try PhotoRecognition.photos(in: folder)
  }

  private static func folder(of file: String) -> String {
    URL(filePath: file).deletingLastPathComponent().path(percentEncoded: false)
  }
}
