import Foundation
import Locking
import OriginalDatabase
import TableStore

@testable import FastImageCache

/// What must hold when all steps of a session are done: nothing is left, and all counts agree.
struct SessionEnd {
  private let session: Session
  private let walk: Walk

  init(_ session: Session, _ walk: Walk) { (self.session, self.walk) = (session, walk) }

  private var cache: ImageCache { session.cache }

  func check() async {
    let watch = walk.watch.begin("the end of a session", of: "\(session.plan)")
    defer { walk.watch.end(watch) }
    await quiet()
    let statistics = await cache.statistics()
    for table in statistics.tables where table.leasedCount > 0 {
      expect(false, .leftover, "\(table.leasedCount) leases of \(table.format)")
    }
    session.beginClosing()
    await cache.close()
    await session.tally.end()
    compareEvents(await cache.statistics())
    if walk.world.plant == .leftBody {
      walk.world.leaveBody(in: Session.originalsFolder(in: walk.world, session.plan.place))
    }
    lookForBodies()
  }

  private func expect(_ isRight: Bool, _ kind: Finds.Kind, _ text: @autoclosure () -> String) {
    if !isRight { walk.finds.report(kind, "end of a session, \(session.plan): \(text())") }
  }

  /// Waits until no request and no load is left, and every image was released; the watch ends a wait that is too long.
  private func quiet() async {
    // Sooner than the watch would call the end of a session hung.
    let end = ContinuousClock.now + walk.options.patience * 3 / 5
    while ContinuousClock.now < end {
      let statistics = await cache.statistics()
      let leases = statistics.tables.reduce(0) { $0 + $1.leasedCount }
      if statistics.pendingRequests == 0, statistics.activeLoads == 0, leases == 0 { return }
      try? await Task.sleep(for: .milliseconds(2))
    }
    let statistics = await cache.statistics()
    expect(
      statistics.pendingRequests == 0 && statistics.activeLoads == 0, .leftover,
      "\(statistics.pendingRequests) requests and \(statistics.activeLoads) loads")
  }

  private func compareEvents(_ statistics: CacheStatistics) {
    let tally = session.tally
    let pairs = [
      ("missed", statistics.misses), ("fetched", statistics.fetches),
      ("stored", statistics.stores),
      ("storeFailed", statistics.failedStores), ("failed", statistics.failures),
      ("cancelled", statistics.cancellations), ("coalesced", statistics.coalescedRequests),
    ]
    expect(tally.count("eventsDropped") == 0, .wrongCount, "events were dropped")
    for (name, count) in pairs {
      expect(
        tally.count(name) == count, .wrongCount,
        "\(tally.count(name)) events \"\(name)\", and \(count) in the statistics")
    }
    // Caches of other steps that share the tables are in the statistics, and frames have no events.
    expect(
      tally.count("decoded") <= statistics.decodes, .wrongCount,
      "\(tally.count("decoded")) events of \(statistics.decodes) decodes")
    walk.finds.count("fetches", statistics.fetches)
    walk.finds.count("hits", statistics.hits)
  }

  /// No file of the walk may be open or mapped, once the session's objects have ended; the last of them end on threads
  /// of their own.
  static func lookForFiles(of walk: Walk) async {
    for _ in 0..<1_000 where !openFiles(in: walk.world.folder).isEmpty {
      try? await Task.sleep(for: .milliseconds(2))
    }
    for file in openFiles(in: walk.world.folder) {
      walk.finds.report(.leftover, "after a session: \(file)")
    }
  }

  private static func openFiles(in folder: URL) -> [String] {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let paths = descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
    return paths.filter { $0.hasPrefix(folder.path) }.map { "open: \($0)" }
      + maps.split(separator: "\n").filter { $0.contains(folder.path) }.map { "mapped: \($0)" }
  }

  /// Each body has a row, each row a body, and all together keep to the limit.
  private func lookForBodies() {
    guard let store = session.originals else { return }
    let bodies = store.directory.appending(path: "bodies")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: bodies.path)) ?? []
    do throws(DatabaseError) {
      let database = try Database(
        store.directory.appending(path: "originals.sqlite").path, makesFile: false, .none)
      var names: Set<String> = []
      try database.run("SELECT id, body FROM original UNION SELECT id, body FROM download") { row in
        names.insert(BodyFolder.name(row: row.integer(0), body: row.bits(1)))
      }
      // A process that is killed leaves some, for an opening to remove: those that outlive one.
      let strays = Set(files).subtracting(names)
      for file in walk.strays.withLock({ $0.intersection(strays) }) {
        expect(false, .leftover, "a body without a row: \(file)")
      }
      walk.strays.withLock { $0 = strays }
      let bytes = try database.number("SELECT bytes FROM store")
      expect(bytes <= store.byteLimit, .wrongCount, "\(bytes) bytes of \(store.byteLimit)")
    } catch {
      // Nothing was kept, so nothing was made.
      expect(files.isEmpty, .leftover, "\(files.count) bodies: \(error)")
    }
  }
}
