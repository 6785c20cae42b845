import FastImageCache
import Foundation

extension Step {
  /// What changes outside, and how a program tells the cache.
  static let changes: [Step] = [
    Step("changed picture", [], weight: 3, need: .entity { $0.subject.scheme != .data }) { turn in
      try turn.world.change(turn.entity.subject)
      // The tables hear nothing of it; the next request of a source does.
      turn.lookEverywhere()
    },

    Step("changed data", [], need: .entity { $0.subject.scheme == .data }) { turn in
      try turn.world.change(turn.entity.subject)
      let changed = turn.model.present(turn.entity)
      let options = turn.options(isPlain: true, policy: .useCache)
      do {
        let image = try await turn.call("a request for other data") {
          try await turn.cache.image(for: changed, format: turn.format, options: options)
        }
        let mark = turn.see(image, of: changed, since: .anything)
        turn.expect(
          mark == nil || mark?.maker == .hand || mark?.revision == changed.revision, .wrongPicture,
          "\(changed.revision)")
      } catch { turn.note(error, of: changed, options) }
    },

    Step(
      "another version", [], weight: 2, need: .entity { $0.naming != .address }
    ) { turn in
      try turn.world.change(turn.entity.subject)
      // The program hears of it, and names the version from now on.
      turn.model.raiseVersion(of: turn.entity, at: turn.world.timeline.tick())
      let versioned = turn.model.present(turn.entity)
      var asking = versioned
      if turn.plant == .lostVersion { asking.version -= 1 }
      let (options, horizon) = (
        turn.options(isPlain: true, policy: .useCache), turn.horizon(of: versioned)
      )
      do {
        let image = try await turn.call("a request for another version") {
          try await turn.cache.image(for: asking, format: turn.format, options: options)
        }
        turn.see(image, of: versioned, since: horizon, "another version")
      } catch { turn.note(error, of: versioned, options) }
    },

    Step("refresh", ["ImageCache.refresh(_:options:)"], weight: 2) { turn in
      let options = turn.options(isPlain: true, policy: .useCache)
      let (time, entity) = (turn.world.timeline.tick(), turn.entity)
      // Only what is there is refreshed; a load under way for another format may store what it has.
      let present = turn.cache.cachedFormats(for: entity)
      do {
        if turn.plant != .lostRefresh {
          let formats = try await turn.call("refresh") {
            try await turn.cache.refresh(entity, options: options)
          }
          turn.expect(formats.allSatisfy(PlayFormats.all.contains), "\(formats)")
        }
        // Images that their entity has itself stay.
        if entity.subject.scheme != .own, !turn.isTroubled {
          turn.model.asked(
            for: entity, present, at: time, keepsOriginal: turn.hasOriginals, by: "refresh")
        }
      } catch { turn.note(error, options) }
      // What stands in the tables now is as new as the refresh.
      turn.lookEverywhere()
    },

    Step("markStale", ["ImageCache.markStale(_:)"], weight: 2) { turn in
      let (time, entity) = (turn.world.timeline.tick(), turn.entity)
      if turn.plant != .lostMark {
        turn.model.willMark(entity)
        defer { turn.model.didMark(entity) }
        try await turn.call("markStale") { try await turn.cache.markStale(entity) }
      }
      turn.model.marked(entity, at: time, hasOriginals: turn.hasOriginals && !turn.isTroubled)
      let (options, horizon) = (
        turn.options(isPlain: true, policy: .useCache), turn.horizon(of: entity)
      )
      do {
        let image = try await turn.call("a request for what is stale") {
          try await turn.cache.image(for: entity, format: turn.format, options: options)
        }
        turn.see(image, since: horizon, "after a mark")
      } catch { turn.note(error, options) }
    },

    Step("move", ["ImageCache.moveImages(from:to:)"]) { turn in
      var moved = turn.entity
      moved.generation += 1
      guard let lines = turn.model.willMove(turn.entity) else { return turn.nothing() }
      var isMoved = false
      defer { turn.model.didMove(turn.entity, lines, isMoved: isMoved) }
      let count = try await turn.call("moveImages") {
        try await turn.cache.moveImages(from: turn.entity.imageID, to: moved.imageID)
      }
      isMoved = true
      turn.expect(
        count >= 0 && count <= PlayFormats.all.count * 4, .wrongCount, "\(count) were moved")
    },

    Step("move of a fresh entity", [], need: .cache) { turn in
      let mark = turn.world.timeline.makeHand(of: 0)
      let (former, present) = (FreshEntity(turn), FreshEntity(turn, "moved"))
      _ = try await turn.call("store before a move") {
        try await turn.cache.store(try mark.bitmap(), for: former, format: turn.format)
      }
      if turn.plant != .lostMove {
        _ = try await turn.call("moveImages of a fresh entity") {
          try await turn.cache.moveImages(from: former.imageID, to: present.imageID)
        }
      }
      turn.expectTable(former, nil, "moved away")
      turn.expectTable(present, mark, "moved here")
      guard let store = turn.session.originals else { return }
      let kept = try await turn.storeFreshOriginal()
      try await turn.call("the original of a moved entity") {
        try await turn.cache.moveImages(from: kept.imageID, to: present.imageID)
        try await store.removeAll(of: present.imageID, in: turn.cache.namespace)
        let left = try await store.bytes(of: kept.originalID(for: turn.format))
        turn.expect(left == nil, .leftover, "an original that did not move with \(kept)")
      }
    },

    Step(
      "metadata", ["ImageCache.setMetadata(_:for:format:)", "CachedImage.metadata(as:)"]
    ) { turn in
      let text = ["\(turn.number)"]
      let horizon = turn.horizon()
      let image = try await turn.call("setMetadata") {
        try await turn.cache.setMetadata(
          try? JSONEncoder().encode(text), for: turn.entity, format: turn.format)
      }
      guard let image else { return turn.nothing() }
      turn.see(image, since: horizon)
      turn.expect(try image.metadata(as: [String].self) == text, "\(image.metadata?.count ?? 0)")
    },
  ]
}

extension Turn {
  /// Compares what stands in all tables for the entity.
  func lookEverywhere() {
    for format in PlayFormats.all {
      let horizon = horizon(entity, format)
      if let image = cache.cachedImage(for: entity, format: format) {
        see(image, since: horizon, "in \(format.name)")
      }
    }
  }

  func horizon(_ entity: PlayEntity, _ format: ImageFormat) -> Model.Horizon {
    horizon(of: entity, format)
  }
}
