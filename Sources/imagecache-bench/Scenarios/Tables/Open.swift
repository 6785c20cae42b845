import CommandSupport
import FastImageCache

/// A cache with a large table, from the call until pictures can be asked for.
struct Open: Scenario {
  static let id = "P7"
  static let name = "open"
  static let summary = """
    opening a cache whose table has 100 000 pictures, against the C floor, which reads records of \
    the same 64 bytes and builds the same kind of hash table, and against stores that keep their \
    index on disk: those open at once and pay at each get. Closing is not timed
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await Gallery(
      Self.name, count: setting.effort.largeCount, side: 8, roles: [.open], setting: setting)
    await gallery.close()
    let (format, stores) = (gallery.format, gallery.stores)
    let ours = Contest.Contender {
      let start = ContinuousClock.now
      let cache = try await setting.makeCache(Self.name, formats: [format])
      let milliseconds = Contest.nanoseconds(since: start) / 1e6
      let isFull = await cache.statistics().tables.first?.entryCount == gallery.hits.pictures.count
      await cache.close()
      guard isFull else { throw BenchFailure.missingPicture }
      return milliseconds
    }
    let peers = stores.map { store in
      Contest.Contender {
        let nanoseconds = try Contest.time(1) { try store.reopen() }
        store.close()
        return nanoseconds / 1e6
      }
    }
    let results = try await Contest([ours] + peers).run(
      roundCount: min(setting.effort.roundCount, 31), warmUpCount: 2)
    let what = "open with \(setting.effort.largeCount) entries"
    return Findings(
      zip(stores, results.dropFirst()).map { store, reference in
        Measure(
          Self.id, what, unit: "ms", ours: results[0], reference: reference, named: store.name,
          bar: store.name == "C floor" ? .oursAtMost(5) : nil)
      })
  }
}
