import CommandSupport
import FastImageCache
import Foundation
import LoopbackServer

/// Looks at a list whose images come over a slow line: without previews, with them, and from originals.
struct SlowScroll {
  let plan: ScrollPlan
  /// Thousands of bits per second of the line.
  let kilobits: Int

  /// - Parameter place: The folder for the caches.
  /// - Throws: The errors of reading photographs and of loading, `CancellationError`.
  func run(
    _ photos: [PhotoFolder.Photo], in place: TemporaryFolder
  ) async throws -> SlowScrollResult {
    let copies = try await ProgressiveCopies.make(
      of: Array(photos.prefix(plan.geometry.cellCount)))
    let list = plan.cells(showing: copies.photos)
    // Each place of the list has a file of its own, so that each is downloaded.
    let files = list.indices.map { copies.files[$0 % copies.files.count] }
    let paths = list.indices.map { "/\($0).jpg" }
    let server = try SlowFileServer(
      Dictionary(uniqueKeysWithValues: zip(paths, files)), byteRate: Double(kilobits) * 125)
    let cells = zip(list, paths).map { SlowCell(cell: $0, url: server.url($1)) }
    func pass(
      _ name: String, _ cache: ImageCache, _ previews: PreviewPolicy
    ) async throws -> SlowPass {
      try await SlowPass(
        name, cells, screenCount: plan.geometry.columnCount * plan.geometry.visibleRowCount,
        in: plan.format, from: cache, previews, byteCount: { server.sentByteCount })
    }
    var passes = [
      try await withCache("plain", in: place) { try await pass("without previews", $0, .none) }
    ]
    passes += try await withCache("previews", in: place) { cache in
      let first = try await pass("with previews", cache, PreviewPolicy())
      await cache.loadsHaveEnded()
      try await cache.removeAllImages()
      return [first, try await pass("from originals", cache, PreviewPolicy())]
    }
    return SlowScrollResult(
      plan: plan, kilobits: kilobits, fileByteCounts: files.map(\.count),
      photoCount: copies.files.count, passes: passes)
  }

  private func withCache<Result>(
    _ name: String, in place: TemporaryFolder, _ body: (ImageCache) async throws -> Result
  ) async throws -> Result {
    try await withScrollCache(
      plan.format, in: place.url.appending(path: name, directoryHint: .isDirectory),
      configuring: { configuration in
        configuration.originals = OriginalStore(
          directory: place.url.appending(path: "\(name)-originals", directoryHint: .isDirectory))
        var http = HTTPOptions()
        http.allowsInsecureHTTP = true
        // However slow the line is, its bytes come.
        (http.lowestByteRate, http.totalTimeout) = (0, nil)
        configuration.source = URLImageSource(http: http)
      }, body)
  }
}
