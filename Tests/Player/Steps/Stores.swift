import FastImageCache
import Foundation

extension Step {
  /// Pictures by hand.
  static let stores: [Step] = [
    Step("store of a bitmap", ["ImageCache.store(_:for:format:metadata:)"]) { turn in
      let mark = turn.world.timeline.makeHand(of: turn.entity.subject.number)
      turn.model.willStore(mark, for: turn.entity, keepsOriginal: false)
      try await turn.storeByHand(mark, ofData: false) {
        try await turn.cache.store(
          try mark.bitmap(), for: turn.entity, format: turn.format,
          metadata: Data("by hand".utf8))
      }
    },

    Step(
      "store of data", ["ImageCache.store(_:for:format:metadata:account:keepsOriginal:)"],
      weight: 2
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: turn.entity.subject.number)
      let keeps = turn.entity.keepsHands
      turn.model.willStore(mark, for: turn.entity, keepsOriginal: keeps && turn.hasOriginals)
      try await turn.storeByHand(mark) {
        try await turn.cache.store(
          try turn.world.files.data(of: mark, turn.pick([.png, .jpeg, .webp])), for: turn.entity,
          format: turn.format, account: turn.handsAccount, keepsOriginal: keeps)
      }
    },

    Step(
      "store of a file",
      ["ImageCache.store(contentsOf:for:format:metadata:account:keepsOriginal:)"]
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: turn.entity.subject.number)
      let keeps = turn.entity.keepsHands
      turn.model.willStore(mark, for: turn.entity, keepsOriginal: keeps && turn.hasOriginals)
      let file = turn.world.folder.appending(path: "by hand \(turn.number)")
      try turn.world.files.data(of: mark, .png).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      try await turn.storeByHand(mark) {
        try await turn.cache.store(
          contentsOf: file, for: turn.entity, format: turn.format,
          account: turn.handsAccount, keepsOriginal: keeps)
      }
    },

    Step("store for a fresh entity", [], need: .cache) { turn in
      let mark = turn.world.timeline.makeHand(of: 0)
      let entity = FreshEntity(turn)
      if turn.plant != .lostStore {
        _ = try await turn.call("store for a fresh entity") {
          try await turn.cache.store(try mark.bitmap(), for: entity, format: turn.format)
        }
      }
      turn.expectTable(entity, mark, "stored by hand")
      try await turn.call("removeImages of a fresh entity") {
        try await turn.cache.removeImages(for: entity)
      }
      turn.expectTable(entity, nil, "removed")
    },

    Step(
      "store by content",
      [
        "ImageCache.store(_:format:drawing:metadata:)",
        "ImageCache.store(contentsOf:format:drawing:metadata:)",
      ], need: .cache
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: 0)
      let data = try turn.world.files.data(of: mark, .png)
      let file = turn.world.folder.appending(path: "content \(turn.number)")
      try data.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let (id, image) = try await turn.call("store(_:format:)") {
        switch turn.roll(3) {
        case 0: try await turn.cache.store(data, format: turn.format)
        case 1: try await turn.cache.store(contentsOf: file, format: turn.format)
        default: try await turn.cache.store(try mark.bitmap(), format: turn.format)
        }
      }
      turn.expect(Mark(image) == mark, .wrongPicture, "\(mark)")
      try await turn.call("removeImages of a content") {
        try await turn.cache.removeImages(for: id)
      }
      turn.expect(
        !turn.cache.containsImage(for: id, format: turn.format), .wrongPicture, "removed: \(id)")
    },
  ]
}

extension Turn {
  /// Compares what a table has for an entity that no other step knows; an evicted image is no fault.
  func expectTable(
    _ entity: FreshEntity, _ mark: Mark?, _ context: String, in format: ImageFormat? = nil
  ) {
    let format = format ?? self.format
    let image = cache.cachedImage(for: entity, format: format)
    // Behind the look: what other steps remove may go at any time.
    if mark != nil, PlayFormats.fleeting.contains(format) || !isCalm { return nothing() }
    let seen = image.flatMap { Mark($0) }
    expect(
      (image != nil) == (mark != nil) && seen == mark, .wrongPicture,
      "\(entity), \(context): \(seen.map { "\($0)" } ?? "nothing") in place of \(mark.map { "\($0)" } ?? "nothing")"
    )
  }

  /// Stores a picture for an entity that no other step knows.
  func storeFresh(
    _ name: String = "fresh", in format: ImageFormat? = nil
  ) async throws -> (entity: FreshEntity, mark: Mark, image: CachedImage) {
    let (entity, mark) = (FreshEntity(self, name), world.timeline.makeHand(of: 0))
    let image = try await call("store for a fresh entity") {
      try await cache.store(try mark.bitmap(), for: entity, format: format ?? self.format)
    }
    expect(Mark(image) == mark, .wrongPicture, "\(mark) was stored for \(entity)")
    return (entity, mark, image)
  }

  /// Whose a picture by hand is.
  var handsAccount: AccountID? { plant == .sharedHand ? nil : entity.accountID }

  /// Stores a picture of the entity, and looks at what it shows afterwards.
  fileprivate func storeByHand(
    _ mark: Mark, ofData: Bool = true, _ store: () async throws -> CachedImage
  ) async throws {
    let time = world.timeline.start(of: mark)
    defer { world.timeline.endHand(mark) }
    if plant != .lostStore {
      let image = try await call("store") { try await store() }
      expect(Mark(image) == mark, .wrongPicture, "stored \(mark)")
    }
    // The former original goes, whether this one is kept or not.
    let supersedes = ofData && hasOriginals && entity.subject.scheme != .own && !isTroubled
    model.shown(mark, of: entity, format, keepsOriginal: supersedes)
    // What was newest before does not follow, unless a source was asked since.
    if let image = cache.cachedImage(for: entity, format: format), let seen = Mark(image) {
      let isNewer = world.timeline.end(of: seen) ?? 0 > time
      expect(seen == mark || isNewer, .wrongPicture, "\(seen) after \(mark) was stored")
    }
  }
}
