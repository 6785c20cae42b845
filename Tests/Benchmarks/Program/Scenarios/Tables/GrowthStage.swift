import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// A full table of one size, opened anew, and the operations on it.
final class GrowthStage {
  let count: Int
  let openTimes: Distribution
  /// Growth of private memory when the table was opened, in bytes.
  let privateByteCount: Int
  private let cache: ImageCache
  private let table: Table
  private let bitmap: Bitmap
  private let hits: HitList
  /// The number of the next image that the table has not seen.
  private var nextNumber: Int
  /// The first of the images that may be removed; those below are for hits.
  private let firstSpare: Int
  private var removed: [BenchImage] = []
  private var random = SystemRandomNumberGenerator()

  /// Images that are hit, at most: each is proven once before, which takes a while.
  private static let hitCount = 200_000
  private static let openCount = 5

  init(_ count: Int, _ setting: BenchSetting) async throws {
    let format = ImageFormat(
      name: "scale", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32,
      capacity: .count(count))
    let namespace = "scale-\(count)"
    let bitmap = try setting.photographs.part(0, size: format.size)
    try await setting.withCache(namespace, formats: [format]) { cache in
      try Gallery.fill(cache, format, with: (0..<count).lazy.map { BenchImage($0) }) { _ in
        bitmap
      }
    }
    ProcessMemory.releaseFreeMemory()
    let before = ProcessMemory.privateByteCount()
    var times: [Double] = []
    var open: ImageCache?
    for _ in 0..<Self.openCount {
      await open?.close()
      let start = ContinuousClock.now
      open = try await setting.makeCache(namespace, formats: [format])
      times.append(Contest.nanoseconds(since: start))
    }
    guard let open else { throw BenchFailure.missingImage }
    ProcessMemory.releaseFreeMemory()
    privateByteCount = max(ProcessMemory.privateByteCount() - before, 0)
    openTimes = Distribution(times)
    cache = open
    table = try Gallery.table(of: open, format)
    self.bitmap = bitmap
    self.count = count
    nextNumber = count
    // Spread over the whole table by their keys, independent of their slots.
    firstSpare = min(count / 2, Self.hitCount)
    hits = HitList(
      cache: open, format: format, images: (0..<firstSpare).map { BenchImage($0) }.shuffled())
    try hits.hit(hits.images.indices)
  }

  /// The images for hits are used right before, so that evictions take others.
  func hit(batch: Int) -> Contest.Contender {
    var turn = 0
    return Contest.Contender { [self] in
      let length = min(batch, hits.images.count)
      let start = turn * length % (hits.images.count - length + 1)
      turn += 1
      return try Contest.time(length) { try hits.hit(start..<(start + length)) }
    }
  }

  /// Stores images where others have been removed before.
  func store(batch: Int) -> Contest.Contender {
    Contest.Contender { [self] in
      try removeSome(batch)
    } turn: { [self] in
      let images = removed
      removed = []
      return try Contest.time(images.count) {
        for image in images { try Gallery.insert(bitmap, for: image, into: table) }
      }
    }
  }

  /// Stores new images in the full table.
  func evict(batch: Int) -> Contest.Contender {
    Contest.Contender { [self] in
      let images = (0..<batch).map { BenchImage(nextNumber + $0) }
      nextNumber += batch
      return try Contest.time(batch) {
        for image in images { try Gallery.insert(bitmap, for: image, into: table) }
      }
    }
  }

  /// Removes images that are put back before the next turn.
  func remove(batch: Int) -> Contest.Contender {
    Contest.Contender { [self] in
      for image in removed { try Gallery.insert(bitmap, for: image, into: table) }
      removed = []
    } turn: { [self] in
      let images = (0..<batch).map { BenchImage(nextNumber - 1 - $0) }
      removed = images
      return try Contest.time(batch) {
        for image in images { _ = try table.remove(image.imageID.tableID) }
      }
    }
  }

  func close() async {
    table.close()
    await cache.close()
  }

  private func removeSome(_ batch: Int) throws {
    let spare = firstSpare..<count
    let numbers = Set((0..<batch).map { _ in Int.random(in: spare, using: &random) })
    removed = numbers.map { BenchImage($0) }
    for image in removed { _ = try table.remove(image.imageID.tableID) }
  }
}
