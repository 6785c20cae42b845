import Foundation

@testable import FastImageCache

extension Step {
  /// What becomes of a cache and its memory, and what it tells of itself.
  static let lives: [Step] = [
    Step("suspend", ["ImageCache.suspend()", "ImageCache.resume()"], need: .cache) { turn in
      guard turn.session.beginsAlone() else { return turn.nothing() }
      defer { turn.session.endAlone() }
      let (entity, mark, _) = try await turn.storeFresh()
      let isCalm = turn.isCalm
      let count = turn.session.troubleCount
      try await turn.session.troubling {
        try await turn.call("suspend") { try await turn.cache.suspend() }
        await turn.rest()
        // Stays in a file of this process until the tables come back, or is refused.
        do { _ = try await turn.storeFresh("suspended") } catch { turn.note(error) }
        await turn.call("resume") { await turn.cache.resume() }
      }
      // Without another step's suspension the tables are as they were.
      guard isCalm, !turn.session.isTroubled(since: count + 2) else { return turn.nothing() }
      turn.expect(turn.cache.storageState == .ready, "\(turn.cache.storageState)")
      guard !PlayFormats.fleeting.contains(turn.format), !turn.isSwept
      else { return turn.nothing() }
      let image = turn.cache.cachedImage(for: entity, format: turn.format)
      turn.expect(image.flatMap { Mark($0) } == mark, .wrongPicture, "\(mark) after a suspension")
    },

    Step("flush", ["ImageCache.flush()"], need: .cache) { turn in
      let (entity, mark, _) = try await turn.storeFresh()
      try await turn.call("flush") { try await turn.cache.flush() }
      turn.expectTable(entity, mark, "flushed")
    },

    Step("trimMemory", ["ImageCache.trimMemory(_:)"], need: .cache) { turn in
      let (entity, mark, _) = try await turn.storeFresh()
      let held = turn.cache.cachedImage(for: entity, format: turn.format)
      turn.cache.trimMemory(turn.pick([.spare, .partials, .pages]))
      turn.expectTable(entity, mark, "trimmed")
      if let held { turn.expect(Mark(held) == mark, .wrongPicture, "\(mark), which is held") }
    },

    Step("time passes", [], need: .cache) { turn in
      // Longer than a brief image is kept, and than most servers promise; now and then longer than an original.
      let isLong = turn.chance(1, in: 6)
      // Images beyond their lifetimes are removed when their cache is opened, and each hour.
      let own = turn.world.folder.appending(path: "brief \(turn.number)")
      defer { try? FileManager.default.removeItem(at: own) }
      var configuration = ImageCache.Configuration()
      configuration.directory = own
      configuration.now = { [weak world = turn.world] in world?.now ?? Date() }
      let entity = FreshEntity(turn)
      let mark = turn.world.timeline.makeHand(of: 0)
      let former = try await ImageCache(formats: [PlayFormats.brief], configuration: configuration)
      _ = try await former.store(try mark.bitmap(), for: entity, format: PlayFormats.brief)
      await former.close()
      let original = try await turn.storeFreshOriginal()
      turn.world.pass(seconds: isLong ? 32 * 86_400 : 2 * 3600)
      let cache = try await ImageCache(formats: [PlayFormats.brief], configuration: configuration)
      await turn.call("the end of a lifetime") {
        while cache.containsImage(for: entity, format: PlayFormats.brief), !Task.isCancelled {
          try? await Task.sleep(for: .milliseconds(1))
        }
      }
      turn.expect(
        cache.cachedImage(for: entity, format: PlayFormats.brief) == nil, .wrongPicture,
        "an image beyond its lifetime")
      await cache.close()
      let id = original.originalID(for: turn.format)
      if isLong {
        let bytes = try await turn.session.originals?.bytes(of: id)
        turn.expect(bytes == nil, .leftover, "an original of 32 days, of \(original)")
      } else {
        let kept = try await turn.session.originals?.inspect() ?? []
        turn.expect(
          kept.allSatisfy { $0.id != id || !$0.isFresh }, "an original of two hours is fresh")
      }
    },

    Step(
      "inspect",
      [
        "ImageCache.inspect()", "ImageCache.entries(in:)", "CacheEntries.makeAsyncIterator()",
        "CacheEntries.Iterator.next()", "CacheEntry.isImage(of:version:)",
        "CacheEntry.LastUse.<(_:_:)",
      ],
      need: .cache
    ) { turn in
      let inspection = try await turn.call("inspect") { try await turn.cache.inspect() }
      turn.expect(
        Set(inspection.tables.map(\.format)) == Set(PlayFormats.all), "\(inspection.tables.count)")
      var count = 0
      try await turn.call("entries") {
        for try await entry in turn.cache.entries(in: turn.format) {
          turn.expect(entry.format == turn.format, "\(entry.format)")
          turn.expect(entry.imageID.map { entry.isImage(of: $0) } ?? true, "\(entry)")
          count += 1
        }
      }
      turn.expect(count <= 256 + 16, .wrongCount, "\(count) entries")
    },

    Step(
      "statistics", ["ImageCache.statistics()", "ImageCache.storageState", "ImageCache.directory"],
      need: .cache
    ) { turn in
      let first = await turn.call("statistics") { await turn.cache.statistics() }
      let second = await turn.cache.statistics()
      turn.expect(
        second.hits >= first.hits && second.fetches >= first.fetches
          && second.stores >= first.stores, .wrongCount, "\(first) then \(second)")
      turn.expect(second.hitRate >= 0 && second.hitRate <= 1, .wrongCount, "\(second.hitRate)")
      turn.expect(
        turn.cache.storageState == .ready || turn.isTroubled, "\(turn.cache.storageState)")
    },

    Step(
      "sourceSize", ["ImageCache.sourceSize(for:format:)"], weight: 2,
      need: .entity(\.needsNoOptions)
    ) { turn in
      do {
        let size = try await turn.call("sourceSize") {
          try await turn.cache.sourceSize(for: turn.entity, format: turn.format)
        }
        turn.expect(
          size.width == size.height && [64, 128].contains(size.width), "\(size)")
      } catch { turn.note(error) }
    },

    Step(
      "another cache of the folder",
      [
        "ImageCache.init(namespace:formats:configuration:)", "ImageCache.close()",
        "ImageCache.Configuration.init()", "ImageCache.Configuration.directory",
        "ImageCache.Configuration.source", "ImageCache.Configuration.resources",
        "LoadResources.init(decodeWidth:decodeByteBudget:networkWidth:localWidth:previewLoad:)",
      ], need: .entity(\.needsNoOptions), isOnDisk: true
    ) { turn in
      let configuration = Session.configuration(turn.session.plan, in: turn.world)
      let other = try await turn.call("a second opening") {
        try await ImageCache(
          namespace: Session.namespace, formats: PlayFormats.all, configuration: configuration)
      }
      let horizon = turn.horizon()
      do {
        let image = try await turn.call("a second cache's request") {
          try await other.image(for: turn.entity, format: turn.format)
        }
        turn.see(image, since: horizon, "by a second cache")
      } catch { turn.note(error) }
      await turn.call("a second cache's close") { await other.close() }
    },

    Step(
      "folders",
      [
        "ImageCache.knownNamespaces(in:)", "ImageCache.diskUsage(in:)",
        "ImageCache.inspect(namespace:in:)", "ImageCache.removeNamespace(_:in:)",
        "ImageCache.removeEverything(in:)", "ImageCache.open(namespace:formats:configuration:)",
      ], need: .cache, isOnDisk: true
    ) { turn in
      let folder = turn.session.plan.folder(in: turn.world)
      turn.expect(
        try ImageCache.knownNamespaces(in: folder).contains(Session.namespace), "no namespace")
      let usage = try await turn.call("diskUsage") { try await ImageCache.diskUsage(in: folder) }
      turn.expect(usage > 0, .wrongCount, "\(usage) bytes")
      let seen = try await turn.call("inspect(namespace:)") {
        try await ImageCache.inspect(namespace: Session.namespace, in: folder)
      }
      turn.expect(!seen.tables.isEmpty, "no tables")

      // A folder of its own, which is removed whole.
      let own = turn.world.folder.appending(path: "own \(turn.number)")
      var configuration = ImageCache.Configuration()
      configuration.directory = own
      let cache = try ImageCache.open(
        namespace: "own", formats: [PlayFormats.row], configuration: configuration)
      let mark = turn.world.timeline.makeHand(of: 0)
      let entity = FreshEntity(turn)
      _ = try await turn.call("store in a folder of its own") {
        try await cache.store(try mark.bitmap(), for: entity, format: PlayFormats.row)
      }
      turn.expect(
        cache.cachedImage(for: entity, format: PlayFormats.row).flatMap { Mark($0) } == mark,
        .wrongPicture, "\(mark) in a folder of its own")
      await turn.call("close") { await cache.close() }
      if turn.chance(1, in: 2) {
        try await turn.call("removeNamespace") {
          try await ImageCache.removeNamespace("own", in: own)
        }
      }
      try await turn.call("removeEverything") { try await ImageCache.removeEverything(in: own) }
      let left = try await ImageCache.diskUsage(in: own)
      turn.expect(left == 0, .leftover, "\(left) bytes of a removed folder")
      try? FileManager.default.removeItem(at: own)
    },
  ]
}
