import FastImageCache

/// The amount of work: enough for stable figures, or just enough to see that everything runs.
struct Effort: Sendable {
  /// Images in the table of the scenarios that do not grow.
  let imageCount: Int
  /// Images in the large table, which is compared with the usual one.
  let largeCount: Int
  /// Times that ours and its peers take turns.
  let roundCount: Int
  /// Hits timed together.
  let hitBatch: Int
  /// Hits timed one by one, with and without a writer.
  let singleHitCount: Int
  /// Images stored in one turn.
  let storeBatch: Int
  /// Files that are decoded in one turn, by one worker and by two.
  let fileCount: Int
  /// Requests for one image, and requests that are cancelled.
  let subscriberCount: Int
  /// Images of the fling, and files that they come from.
  let flingCount: Int
  /// Images that are held at the same time.
  let heldCount: Int
  /// Busy frames of a scrolled list.
  let frameCount: Int
  /// Entries of the tables whose growth is plotted.
  let scaleCounts: [Int]
  /// Sides of the photographs of two cameras, one of which writes progressive files, and of a web
  /// page.
  let photographs:
    (
      large: (width: Int, height: Int), progressive: (width: Int, height: Int),
      small: (width: Int, height: Int)
    )
  /// Of the photographs of a fling, and of the one that comes slowly.
  let usualPhotograph: PixelSize
  /// Whether the images of `fidelity` are photographs of this machine, not drawn landscapes.
  let readsPhotographs: Bool
  /// Sides of the landscapes that images in tables are parts of.
  let landscape: (width: Int, height: Int)

  static let full = Effort(
    imageCount: 1000, largeCount: 100_000, roundCount: 101, hitBatch: 1000,
    singleHitCount: 200_000, storeBatch: 20, fileCount: 200, subscriberCount: 1000,
    flingCount: 2000,
    heldCount: 100, frameCount: 200, scaleCounts: [1000, 10_000, 100_000, 1_000_000],
    photographs: (large: (4000, 3000), progressive: (5184, 3456), small: (800, 600)),
    usualPhotograph: PixelSize(width: 1600, height: 1200), readsPhotographs: true,
    landscape: (800, 600))

  /// Everything runs; the figures mean nothing.
  static let quick = Effort(
    imageCount: 8, largeCount: 40, roundCount: 2, hitBatch: 16, singleHitCount: 64,
    storeBatch: 2, fileCount: 2, subscriberCount: 8, flingCount: 6, heldCount: 4, frameCount: 2,
    scaleCounts: [4, 16], photographs: (large: (128, 96), progressive: (96, 64), small: (64, 48)),
    usualPhotograph: PixelSize(width: 320, height: 240), readsPhotographs: false,
    landscape: (256, 256))
}
