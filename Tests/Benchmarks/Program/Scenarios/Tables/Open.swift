import CommandSupport
import FastImageCache
import Foundation

/// A cache with a large table, from the call until images can be asked for.
struct Open: Scenario {
  static let id = "P7"
  static let name = "open"
  static let summary = """
    opening a cache whose table has 100 000 photos, against the C floor, which reads records of \
    the same 64 bytes and builds the same kind of hash table, and against stores that keep their \
    index on disk: those open at once and pay at each get. The first opening after a start of the \
    system is one without an index file. Closing is not timed
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await Gallery(
      Self.name, count: setting.effort.largeCount, side: 8, roles: [.open], setting: setting)
    await gallery.close()
    let (format, stores) = (gallery.format, gallery.stores)
    let ours = Contest.Contender {
      try await Self.milliseconds(gallery) {
        try await setting.makeCache(Self.name, formats: [format])
      }
    }
    let atOnce = Contest.Contender {
      try await Self.milliseconds(gallery) {
        try setting.openCache(Self.name, formats: [format])
      }
    }
    let first = Contest.Contender {
      try Self.removeIndexFiles(in: setting.place.url)
      return try await Self.milliseconds(gallery) {
        try await setting.makeCache(Self.name, formats: [format])
      }
    }
    let peers = stores.map { store in
      Contest.Contender {
        let nanoseconds = try Contest.time(1) { try store.reopen() }
        store.close()
        return nanoseconds / 1e6
      }
    }
    let results = try await Contest([ours, atOnce, first] + peers).run(
      roundCount: min(setting.effort.roundCount, 31), warmUpCount: 2)
    let what = "open with \(setting.effort.largeCount) entries"
    let blocking = Measure(
      Self.id, "the same at once, on the calling thread", unit: "ms", ours: results[1],
      reference: results[0], named: "awaited")
    return Findings(
      zip(stores, results.dropFirst(3)).flatMap { store, reference in
        [
          Measure(
            Self.id, what, unit: "ms", ours: results[0], reference: reference, named: store.name,
            bar: store.isFloor ? .oursAtMost(0.5) : nil),
          Measure(
            Self.id, "the first time after a start of the system", unit: "ms", ours: results[2],
            reference: reference, named: store.name, bar: store.isFloor ? .oursAtMost(5) : nil),
        ]
      } + [blocking])
  }

  private static func removeIndexFiles(in folder: URL) throws {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      if file.path.hasSuffix("-index") { try FileManager.default.removeItem(at: file) }
    }
  }

  /// What opening took; closing the cache is not timed.
  private nonisolated(nonsending) static func milliseconds(
    _ gallery: Gallery, _ open: nonisolated(nonsending) () async throws -> ImageCache
  ) async throws -> Double {
    let start = ContinuousClock.now
    let cache = try await open()
    let milliseconds = Contest.nanoseconds(since: start) / 1e6
    let isFull = await cache.statistics().tables.first?.entryCount == gallery.hits.images.count
    await cache.close()
    guard isFull else { throw BenchFailure.missingImage }
    return milliseconds
  }
}
