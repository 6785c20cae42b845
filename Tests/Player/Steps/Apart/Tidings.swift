import FastImageCache
import Foundation

extension Step {
  /// What a cache tells, and entities of other kinds.
  static let tidings: [Step] = [
    Step(
      "events",
      ["ImageCache.events(bufferSize:)", "ImageCache.allEvents(bufferSize:)"], need: .cache
    ) { turn in
      let events = turn.cache.events(bufferSize: 1 << 16)
      let all = ImageCache.allEvents(bufferSize: 1 << 16)
      let (entity, _, _) = try await turn.storeFresh()
      // A removal of all images that comes meanwhile is later, and nothing is stored.
      guard !turn.isSwept else { return turn.nothing() }
      let format = turn.format.name
      func isExpected(_ event: CacheEvent) -> Bool {
        switch event {
        case .stored(let id, format): id == entity.imageID
        case .storeFailed(let id, format, _): id == entity.imageID && turn.isTroubled
        default: false
        }
      }
      let told = await turn.call("the event of a store") { await events.first(where: isExpected) }
      turn.expect(told != nil, .wrongCount, "no event of a store")
      let other = await turn.call("the event of a store, among all") {
        await all.first { isExpected($0.event) }
      }
      turn.expect(other?.namespace == turn.cache.namespace, "\(String(describing: other))")
    },

    Step("log", ["ImageCache.logEvents()"], need: .cache) { turn in
      let log = ImageCache.logEvents()
      log.cancel()
      await turn.call("the end of a log") { await log.value }
      // Nothing is told to it any more, and the cache goes on.
      let (entity, mark, _) = try await turn.storeFresh()
      turn.expectTable(entity, mark, "after a log")
    },

    Step("fault guard", ["ImageCache.installFaultGuard()"], need: .cache) { turn in
      let (_, mark, image) = try await turn.storeFresh()
      try ImageCache.installFaultGuard()
      turn.expect(Mark(image) == mark, .wrongPicture, "\(mark) under a guard")
    },

    Step(
      "a URL as entity",
      ["URL.sourceURL(for:)", "ImageID.init(_:)", "ImageEntity.defaultVersionID(for:)"],
      need: .entity { $0.needsNoOptions && $0.subject.scheme != .own }
    ) { turn in
      guard let url = turn.entity.sourceURL(for: turn.format) else { return turn.nothing() }
      turn.expect(
        url.sourceURL(for: turn.format) == url && url.imageID == ImageID(url)
          && url.defaultVersionID(for: turn.format) == ImageID(url), "\(url)")
      do {
        let image = try await turn.call("a request of a URL") {
          try await turn.cache.image(for: url, format: turn.format)
        }
        let mark = Mark(image)
        turn.expect(
          mark?.subject == turn.entity.subject.number && mark?.account == 0, .wrongPicture,
          "\(mark.map { "\($0)" } ?? "nothing") of \(turn.entity)")
      } catch { turn.note(error) }
    },

    Step(
      "ids",
      [
        "ImageID.init(_:)", "ImageID.init(integerLiteral:)", "ImageID.init(stringLiteral:)",
        "RequestPriority.==(_:_:)", "RequestPriority.hash(into:)",
      ], need: .cache
    ) { turn in
      let ids: [ImageID] = [
        ImageID("\(turn.number) id"), ImageID(turn.number), ImageID(UUID()),
        ImageID(URL(fileURLWithPath: "/ids/\(turn.number)")), "a literal", 1_000_000_007,
      ]
      var marks: [Mark] = []
      for id in ids {
        marks.append(turn.world.timeline.makeHand(of: 0))
        let mark = marks[marks.count - 1]
        let image = try await turn.call("a store under an id") {
          try await turn.cache.store(
            try mark.bitmap(), for: NamedEntity(imageID: id), format: turn.format)
        }
        turn.expect(Mark(image) == mark, .wrongPicture, "\(mark) under \(id)")
      }
      for (id, mark) in zip(ids, marks).dropLast(2) {
        let image = turn.cache.cachedImage(for: NamedEntity(imageID: id), format: turn.format)
        let seen = image.flatMap { Mark($0) }
        turn.expect(seen == nil || seen == mark, .wrongPicture, "\(mark) under \(id)")
        try await turn.cache.removeImages(for: id)
        turn.expect(!turn.cache.containsImage(for: id, format: turn.format), "\(id) was removed")
      }
      let (one, two) = (RequestPriority(.low), RequestPriority(.low))
      turn.expect(one == one && one != two && Set([one, two, one]).count == 2, "two priorities")
    },
  ]
}

/// An entity of an id alone.
private struct NamedEntity: ImageEntity {
  let imageID: ImageID

  func sourceURL(for format: ImageFormat) -> URL? { nil }
}
