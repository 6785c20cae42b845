import CommandSupport
import FastImageCache
import Foundation

/// Prepares the three ways before the list moves: photographs that decode, a table with all
/// images, thumbnail files with the same pixels.
final class ScrollStage {
  private let cache: ImageCache
  private let plan: ScrollPlan
  private let place: TemporaryFolder
  private var photos: [PhotoFolder.Photo]
  private var cells: [ScrollCell] = []
  private var thumbnails: [URL] = []

  init(
    _ plan: ScrollPlan, photos: [PhotoFolder.Photo], in place: TemporaryFolder, _ cache: ImageCache
  ) {
    self.plan = plan
    self.place = place
    self.cache = cache
    // More than one for each cell would not be seen.
    self.photos = Array(photos.prefix(plan.geometry.cellCount))
  }

  /// Fills the table and writes the thumbnails.
  func warmUp() async throws {
    photos = try await photosThatDecode()
    cells = plan.cells(showing: photos)
    try await fillTable()
    try writeThumbnails()
  }

  /// Scrolls the list in each of the three ways, several times in turn.
  func measure() throws -> ScrollResult {
    let table = TableScrolling(cache: cache, format: plan.format, cells: cells)
    let thumbnail = ThumbnailScrolling(files: thumbnails)
    let original = OriginalScrolling(cells: cells, size: plan.size, pixelFormat: plan.pixelFormat)
    var passes: [[ScrollPass]] = [[], [], []]
    // The ways take turns, so that other work of the machine meets all of them.
    for _ in 0..<ScrollResult.passCount {
      passes[0].append(try ScrollPass(table, plan.geometry))
      passes[1].append(try ScrollPass(thumbnail, plan.geometry))
      passes[2].append(
        try ScrollPass(
          original, plan.geometry, timeLimit: ScrollResult.originalTimeLimit,
          busyFrameLimit: passes[2].first?.busyFrames.count))
    }
    let disk = [
      DiskUsage.allocatedByteCount(in: cache.directory),
      thumbnails.reduce(0) { $0 + DiskUsage.allocatedByteCount(of: $1) },
      0,
    ]
    let names = [TableScrolling.name, ThumbnailScrolling.name, OriginalScrolling.name]
    let methods = try zip(names, zip(passes, disk)).map { name, measured in
      try ScrollResult.Method(name: name, passes: measured.0, diskByteCount: measured.1)
    }
    return ScrollResult(plan: plan, imageCount: photos.count, methods: methods)
  }

  /// The first images of the list as each way shows them, as PNG files.
  func strips() throws -> [[Data]] {
    let table = TableScrolling(cache: cache, format: plan.format, cells: cells)
    let thumbnail = ThumbnailScrolling(files: thumbnails)
    let original = OriginalScrolling(cells: cells, size: plan.size, pixelFormat: plan.pixelFormat)
    let shown = 0..<min(12, cells.count)
    return [
      try shown.map { try table.image(ofCell: $0).pngData() },
      try shown.map { try thumbnail.image(ofCell: $0).pngData() },
      try shown.map { try original.image(ofCell: $0).pngData() },
    ]
  }

  /// Loads each photograph once; leaves out and names those that fail.
  private func photosThatDecode() async throws -> [PhotoFolder.Photo] {
    let (cache, format) = (cache, plan.format)
    let progress = ProgressLine("decoding photographs", total: photos.count)
    var reasons: [Int: String] = [:]
    var doneCount = 0
    await ConcurrentWork.forEach(photos.enumerated(), width: 4) { index, photo in
      do {
        _ = try await cache.image(for: ScrollCell(photo: photo, turn: 0), format: format)
        return (index, nil)
      } catch {
        return (index, FailureText.text(of: error))
      }
    } collect: { (index: Int, reason: String?) in
      reasons[index] = reason
      doneCount += 1
      progress.update(doneCount)
    }
    progress.end()
    try Task.checkCancellation()
    PhotoRecognition.note(
      reasons.sorted { $0.key < $1.key }.map { (path: photos[$0.key].path, reason: $0.value) },
      as: "skipped")
    let good = photos.indices.filter { reasons[$0] == nil }.map { photos[$0] }
    guard !good.isEmpty else { throw CommandFailure("No photograph could be decoded.") }
    return good
  }

  private func fillTable() async throws {
    let progress = ProgressLine("filling the table", total: cells.count)
    // Photograph by photograph, so that requests for parts of one join in one decode.
    let ordered = cells.sorted { ($0.photo.path, $0.turn) < ($1.photo.path, $1.turn) }
    for await arrival in cache.images(for: ordered, format: plan.format) {
      progress.update(arrival.completedCount)
    }
    progress.end()
    try Task.checkCancellation()
    let loadedCount =
      await cache.prefetch(ordered, format: plan.format, depth: .memory).loadedCount
    guard loadedCount == cells.count else {
      throw CommandFailure(
        "The table could be filled with \(loadedCount) of \(cells.count) images only.")
    }
  }

  private func writeThumbnails() throws {
    let folder = place.url.appending(path: "thumbnails", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let progress = ProgressLine("writing thumbnails", total: cells.count)
    thumbnails = try cells.enumerated().map { index, cell in
      try Task.checkCancellation()
      guard let image = cache.cachedImage(for: cell, format: plan.format) else {
        throw CommandFailure("The table has lost the image of \(cell.imageID).")
      }
      let file = folder.appending(path: "\(index).jpg")
      // The quality at which photo apps keep thumbnails.
      try image.makeBitmap().jpegData(quality: 0.8).write(to: file)
      progress.update(index + 1)
      return file
    }
    progress.end()
  }
}
