import FastImageCache
import Foundation
import Locking
import TestSupport

extension Step {
  /// How long originals are kept and believed, by clocks of a step's own.
  static let lifetimes: [Step] = [
    Step(
      "lifetime of originals",
      [
        "OriginalStore.Lifetime.init()", "OriginalStore.Lifetime.maximumAge",
        "OriginalStore.Lifetime.renewsOnUse", "OriginalStore.Lifetime.defaultFreshness",
        "OriginalStore.Lifetime.respectsServer", "OriginalStore.Lifetime.servesStale",
        "ImageCache.Configuration.originals",
      ], need: .cache
    ) { turn in
      let folder = turn.world.folder.appending(path: "originals \(turn.number)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let mark = turn.world.timeline.makeHand(of: 1)
      let file = try turn.world.files.data(of: mark, .png)
      let server = try HTTPServer { _ in
        .ok(file, headers: ["Cache-Control": "max-age=5000", "ETag": "\"1\""])
      }
      var lifetime = OriginalStore.Lifetime()
      lifetime.maximumAge = .seconds(10_000)
      lifetime.renewsOnUse = turn.chance(1, in: 2)
      lifetime.defaultFreshness = .seconds(1_000)
      lifetime.respectsServer = turn.chance(1, in: 2)
      lifetime.servesStale = turn.chance(1, in: 2)
      let seconds = Lock<Int64>(0)
      let store = OriginalStore.timed(in: folder, byteLimit: 4 << 20, lifetime) {
        Int64(Date().timeIntervalSince1970) + seconds.withLock { $0 }
      }
      let cache = try turn.ownCache(of: URLImageSource()) { $0.originals = store }
      let url = server.url("/a")
      func show(_ format: ImageFormat, after wait: Int64) async throws -> Int {
        seconds.withLock { $0 += wait }
        let image = try await turn.call("a request of an original") {
          try await cache.image(for: url, format: format)
        }
        turn.expect(Mark(image) == mark, .wrongPicture, "\(mark) in \(format.name)")
        return server.requests.value
      }
      func isFresh() async throws -> Bool? {
        let kept = try await store.settled()
        return kept.first?.isFresh
      }
      let first = try await show(PlayFormats.row, after: 0)
      turn.expect(first == 1, .wrongCount, "\(first) requests")
      let fresh = try await isFresh()
      turn.expect(fresh == true, "a fresh original: \(String(describing: fresh)), \(lifetime)")
      // Beyond the default, and within what the server said.
      seconds.withLock { $0 += 2_000 }
      let respected = try await isFresh()
      turn.expect(
        respected == lifetime.respectsServer, "\(String(describing: respected)), \(lifetime)")
      let used = try await store.bytes(of: ImageID(url))
      turn.expect(used == file, .wrongPicture, "\(used?.count ?? 0) bytes in use, \(lifetime)")
      // A load that draws the first image's family still would bring the second as well.
      func loadsEnd() async {
        await turn.call("the end of a load") {
          while await cache.statistics().activeLoads > 0, !Task.isCancelled { await Task.yield() }
        }
      }
      await loadsEnd()
      let asked = !lifetime.respectsServer && !lifetime.servesStale
      let second = try await show(PlayFormats.best, after: 0)
      turn.expect(
        second == (asked ? 2 : 1) || second == 2 && !lifetime.respectsServer, .wrongCount,
        "\(second) requests, \(lifetime)")
      // The answer to a question that a stale original has caused would be younger than what follows.
      if lifetime.servesStale, !lifetime.respectsServer {
        await turn.call("the question behind an answer") { await server.requests.reaches(2) }
      }
      await loadsEnd()
      // Beyond the age from its arrival, and within that from its last use.
      seconds.withLock { $0 += 9_000 }
      let kept = try await store.bytes(of: ImageID(url))
      turn.expect(
        kept == (lifetime.renewsOnUse ? file : nil), .wrongPicture,
        "\(kept?.count ?? 0) bytes, \(lifetime)")
      seconds.withLock { $0 += 11_000 }
      let old = try await store.bytes(of: ImageID(url))
      turn.expect(old == nil, .leftover, "\(old?.count ?? 0) bytes that are too old, \(lifetime)")
      await cache.close()
    },

    Step(
      "limit of originals", ["OriginalStore.init(directory:byteLimit:lifetime:protection:)"],
      need: .cache
    ) { turn in
      let folder = turn.world.folder.appending(path: "originals \(turn.number)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let store = OriginalStore(directory: folder, byteLimit: 256 << 10)
      let cache = try turn.ownCache(of: URLImageSource()) { $0.originals = store }
      var files: [ImageID: Data] = [:]
      for index in 0..<3 {
        let mark = turn.world.timeline.makeHand(of: 1)
        let entity = FreshEntity(turn, "limit \(index)")
        let file = try turn.world.files.data(of: mark, .png)
        _ = try await turn.call("a store in a small store") {
          try await cache.store(file, for: entity, format: PlayFormats.row)
        }
        files[entity.originalID(for: PlayFormats.row)] = file
      }
      let kept = try await turn.call("inspect of a small store") { try await store.inspect() }
      turn.expect(
        kept.reduce(0) { $0 + $1.byteCount } <= store.byteLimit, .wrongCount, "\(kept.count)")
      for original in kept {
        let bytes = try await store.bytes(of: original.id)
        turn.expect(bytes == files[original.id], .wrongPicture, "\(original.id)")
      }
      await cache.close()
    },
  ]
}
