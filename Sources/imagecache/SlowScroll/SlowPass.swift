import CommandSupport
import FastImageCache
import ImageCodecs

/// The list looked at once from its top to its end, a screen at a time: the next one comes when all images
/// of this one are there.
struct SlowPass {
  /// An image that came to be shown.
  struct Appearance {
    let time: Duration
    let isPreview: Bool
    /// Levels from the image that came last, on average.
    let difference: Double
    let thumbnail: Bitmap
  }

  /// One place of the list.
  struct Place {
    /// When it came into view.
    let start: Duration
    /// In the order in which they came; the last one is the image.
    let appearances: [Appearance]

    /// The time until anything was shown.
    var first: Duration { (appearances.first?.time ?? start) - start }

    /// The time until the image was shown.
    var last: Duration { (appearances.last?.time ?? start) - start }

    var previewCount: Int { appearances.count { $0.isPreview } }

    /// How often a preview differed more from the image than the preview before it.
    var worseningCount: Int {
      zip(appearances, appearances.dropFirst()).count { $0.difference < $1.difference }
    }
  }

  let name: String
  let screens: [[Place]]
  /// When the last image was there.
  let duration: Duration
  /// What the server sent.
  let byteCount: Int

  var places: [Place] { screens.flatMap(\.self) }

  /// - Throws: `CancellationError`, and the errors of the loads.
  init(
    _ name: String, _ cells: [SlowCell], screenCount: Int, in format: ImageFormat,
    from cache: ImageCache, _ previews: PreviewPolicy, byteCount: () -> Int
  ) async throws {
    let progress = ProgressLine("scrolling \(name)", total: cells.count)
    progress.update(0)
    let (clock, former) = (ContinuousClock(), byteCount())
    let start = clock.now
    var screens: [[Place]] = []
    for first in stride(from: 0, to: cells.count, by: screenCount) {
      let shown = cells[first..<min(first + screenCount, cells.count)]
      screens.append(
        try await withThrowingTaskGroup(of: (Int, Place).self) { group in
          for (index, cell) in shown.enumerated() {
            group.addTask {
              (index, try await Self.look(at: cell, format, cache, previews, since: start))
            }
          }
          var places: [Int: Place] = [:]
          for try await (index, place) in group {
            places[index] = place
            progress.update(first + places.count)
          }
          return shown.indices.compactMap { places[$0 - first] }
        })
    }
    progress.end()
    (self.name, self.screens, duration) = (name, screens, clock.now - start)
    self.byteCount = byteCount() - former
  }

  private static func look(
    at cell: SlowCell, _ format: ImageFormat, _ cache: ImageCache, _ previews: PreviewPolicy,
    since start: ContinuousClock.Instant
  ) async throws -> Place {
    var options = LoadOptions()
    options.previews = previews
    let begin = ContinuousClock.now - start
    var shown: [(time: Duration, image: CachedImage)] = []
    for try await image in cache.updates(for: cell, format: format, options: options) {
      shown.append((ContinuousClock.now - start, image))
    }
    let final = shown.last?.image
    let size = StripImage.thumbnailSize(of: format.size)
    let appearances = try shown.map { time, image in
      Appearance(
        time: time, isPreview: image.isPrivate,
        difference: final.map { image.difference(from: $0) } ?? 0,
        thumbnail: try image.makeBitmap().drawn(.stretch, size))
    }
    return Place(start: begin, appearances: appearances)
  }
}

extension CachedImage {
  /// The difference between two images of one format, in levels, on average.
  fileprivate func difference(from other: CachedImage) -> Double {
    withPixels { ours in
      ours.withUnsafeBytes { ours in
        other.withPixels { theirs in
          theirs.withUnsafeBytes { theirs in
            let count = min(ours.count, theirs.count)
            let sum = (0..<count).reduce(into: 0) { $0 += abs(Int(ours[$1]) - Int(theirs[$1])) }
            return Double(sum) / Double(max(count, 1))
          }
        }
      }
    }
  }
}
