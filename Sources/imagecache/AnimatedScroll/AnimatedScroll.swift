import CommandSupport
import FastImageCache
import Foundation
import ImageDrawing

/// Plays the animations of a folder from image tables, and by decoding them in each loop.
struct AnimatedScroll {
  /// An animation's file as an entity.
  private struct Animation: ImageEntity {
    let photo: PhotoFolder.Photo

    var imageID: ImageID { ImageID(photo.path) }
    func sourceURL(for format: ImageFormat) -> URL? { photo.url }
    func drawing(for format: ImageFormat) -> Drawing { AnimatedScroll.drawing }
  }

  static let drawing = Drawing.aspectFit

  let size: PixelSize
  let pixelFormat: PixelFormat

  /// - Returns: The figures, and the first frames of some animations as each way shows them, as PNG files.
  func run(
    _ photos: [PhotoFolder.Photo], in place: TemporaryFolder
  ) async throws -> (AnimatedScrollResult, strips: [[Data]]) {
    let files = try files(of: photos)
    let frameCount = files.reduce(0) { $0 + $1.header.frameCount }
    let format = ImageFormat(
      name: "animation", size: .exact(size), pixelFormat: pixelFormat,
      capacity: .count(frameCount), animation: .allFrames(byteLimit: .max))
    let directory = place.url.appending(path: "tables", directoryHint: .isDirectory)
    return try await withScrollCache(format, in: directory) { cache in
      try measure(files, try await fill(cache, format, with: files), in: cache.directory)
    }
  }

  private func files(of photos: [PhotoFolder.Photo]) throws -> [AnimatedFile] {
    var skipped: [(path: String, reason: String)] = []
    let files = photos.compactMap { photo -> AnimatedFile? in
      do {
        if let file = try AnimatedFile(photo) { return file }
        skipped.append((photo.path, "It does not move."))
      } catch {
        skipped.append((photo.path, FailureText.text(of: error)))
      }
      return nil
    }
    PhotoRecognition.note(skipped, as: "skipped")
    guard !files.isEmpty else { throw CommandFailure("The folder has no animations.") }
    return files
  }

  private func fill(
    _ cache: ImageCache, _ format: ImageFormat, with files: [AnimatedFile]
  ) async throws -> [CachedAnimation] {
    let progress = ProgressLine("filling the table", total: files.count)
    defer { progress.end() }
    var animations: [CachedAnimation] = []
    for file in files {
      let animation = try await cache.animation(for: Animation(photo: file.photo), format: format)
      guard !animation.isStreamed else {
        throw CommandFailure(
          "The table could not take all frames of \(file.photo.path)"
            + (cache.storeFailure(in: format).map { ": \($0)" } ?? "."))
      }
      animations.append(animation)
      progress.update(animations.count)
    }
    return animations
  }

  private func measure(
    _ files: [AnimatedFile], _ animations: [CachedAnimation], in directory: URL
  ) throws -> (AnimatedScrollResult, strips: [[Data]]) {
    // For ever, whatever a file says.
    let timelines = animations.map {
      AnimationTimeline(frameDurations: $0.timeline.frameDurations, loopCount: nil)
    }
    var passes: [[ScrollPass]] = [[], []]
    // The ways take turns, so that other work of the machine meets both of them.
    for _ in 0..<ScrollResult.passCount {
      passes[0].append(
        try ScrollPass(playing: timelines) { TablePlaying(animations: animations) })
      passes[1].append(
        try ScrollPass(
          playing: timelines, timeLimit: ScrollResult.originalTimeLimit,
          busyFrameLimit: passes[1].first?.busyFrames.count
        ) { try DecodePlaying(files, size, pixelFormat) })
    }
    let methods = [
      try ScrollResult.Method(
        name: TablePlaying.name, passes: passes[0],
        diskByteCount: DiskUsage.allocatedByteCount(in: directory)),
      try ScrollResult.Method(
        name: DecodePlaying.name, passes: passes[1],
        diskByteCount: files.reduce(0) { $0 + DiskUsage.allocatedByteCount(of: $1.photo.url) }),
    ]
    var decoding = try DecodePlaying(Array(files.prefix(12)), size, pixelFormat)
    let strips = [
      try animations.prefix(12).map { try $0.frame(at: $0.frameCount / 2).image.pngData() },
      try animations.prefix(12).enumerated().map { index, animation in
        try decoding.frame(animation.frameCount / 2, of: index).pngData()
      },
    ]
    let result = AnimatedScrollResult(
      title: "\(files.count.counted("animation")) of \(timelines.reduce(0) { $0 + $1.frameCount }) "
        + "frames, \(size) \(pixelFormat.rawValue), \(ScrollPass.playedFrameCount) frames of the screen",
      methods: methods)
    return (result, strips)
  }
}
