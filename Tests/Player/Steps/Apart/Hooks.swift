import FastImageCache
import Foundation
import Locking
import TestSupport

extension Step {
  /// Caches of a step's own, by what their configurations have.
  static let hooks: [Step] = [
    Step(
      "willStore",
      [
        "ImageCache.Configuration.willStore", "StoredImage.bitmap", "StoredImage.imageID",
        "StoredImage.metadata", "StoredImage.storage", "StoredImage.versionID(for:)",
        "ImageCache.inMemory(formats:configuration:)", "ImageEntity.prerendersFamily(_:)",
      ], need: .cache
    ) { turn in
      let (source, hooked) = (
        turn.world.timeline.makeHand(of: 1), turn.world.timeline.makeHand(of: 2)
      )
      var entity = FreshEntity(turn)
      entity.prerenders = turn.chance(1, in: 2)
      let isStored = turn.chance(1, in: 2)
      let formats = [PlayFormats.row, PlayFormats.large]
      let seen = Lock<[StoredImage]>([])
      let cache = try turn.ownCache(of: .closure { _ in .bitmap(try source.bitmap()) }) {
        $0.willStore = { image in
          seen.withLock { $0.append(image) }
          if image.imageID == nil { image.imageID = ImageID("named \(hooked.revision)") }
          image.bitmap = try hooked.bitmap()
          image.metadata = Data("hook".utf8)
          image.storage = isStored ? .store : .doNotStore
        }
      }
      let image = try await turn.call("a request with a hook") {
        try await cache.image(for: entity, format: PlayFormats.row)
      }
      turn.expect(Mark(image) == hooked, .wrongPicture, "\(hooked) of a hook")
      turn.expect(image.metadata == Data("hook".utf8), "\(image.metadata?.count ?? 0)")
      // The rest of the family is drawn later.
      for format in isStored ? [PlayFormats.row] : formats {
        turn.expect(
          (cache.cachedImage(for: entity, format: format) != nil) == isStored, "\(format.name)")
      }
      let (id, _) = try await turn.call("a store with a hook") {
        try await cache.store(try source.bitmap(), format: PlayFormats.row)
      }
      turn.expect(id == ImageID("named \(hooked.revision)"), "\(id)")
      let given = seen.withLock { $0 }
      turn.expect(given.count == 2, .wrongCount, "\(given.count) calls of a hook")
      guard let load = given.first, let hand = given.last else { return }
      turn.expect(Mark(load.bitmap) == source && load.origin == .load, .wrongPicture, "\(load)")
      turn.expect(load.imageID == entity.imageID && hand.imageID == nil, "\(load)")
      turn.expect(
        load.formats.count == (entity.prerenders ? 3 : 1), .wrongCount, "\(load.formats.count)")
      for format in load.formats {
        turn.expect(load.versionID(for: format) == entity.versionID(for: format), format.name)
        turn.expect(hand.versionID(for: format) == nil, format.name)
      }
      await cache.close()
    },

    Step(
      "failure memory", ["ImageCache.Configuration.failureMemory"], need: .cache
    ) { turn in
      let (count, remembers) = (Counter(), turn.chance(1, in: 2))
      let cache = try turn.ownCache(
        of: .closure { request in
          count.increment()
          throw ImageSourceError.notFound(path: request.url.path)
        }
      ) { $0.failureMemory = remembers ? .seconds(600) : nil }
      for _ in 0..<3 {
        do {
          _ = try await turn.call("a request that fails") {
            try await cache.image(for: FreshEntity(turn), format: PlayFormats.row)
          }
          turn.expect(false, "a picture of nothing")
        } catch let error as ImageCacheError {
          guard case .sourceFailed = error else {
            turn.expect(false, "\(error)")
            continue
          }
        }
      }
      turn.expect(count.value == (remembers ? 1 : 3), .wrongCount, "\(count.value) calls")
      await cache.close()
    },

    Step(
      "limits",
      [
        "ImageCache.Configuration.limits", "DecodingLimits.init()", "DecodingLimits.pixelCount",
        "DecodingLimits.sideLength", "DecodingLimits.encodedByteCount",
        "DecodingLimits.workingByteCount",
      ], need: .cache
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: 1)
      let file = try turn.world.files.data(of: mark, .png)
      var limits = DecodingLimits()
      let isLow = turn.chance(3, in: 4)
      let less = isLow ? 1 : 0
      switch turn.roll(4) {
      case 0: limits.pixelCount = 64 * 64 - less
      case 1: limits.sideLength = 64 - less
      case 2: limits.encodedByteCount = file.count - less
      default: limits.workingByteCount = isLow ? 1_000 : 1 << 20
      }
      let cache = try turn.ownCache(of: .closure { _ in .encoded(file) }) { $0.limits = limits }
      do {
        let image = try await turn.call("a request with limits") {
          try await cache.image(for: FreshEntity(turn), format: PlayFormats.row)
        }
        turn.expect(Mark(image) == mark && !isLow, .wrongPicture, "\(mark) within \(limits)")
      } catch let error as ImageCacheError {
        let isTooLarge =
          switch error {
          case .imageTooLarge, .undecodable(_, reason: .tooLarge): true
          default: false
          }
        turn.expect(isTooLarge && isLow, "\(error) \(limits)")
      }
      await cache.close()
    },

    Step(
      "limits of animations",
      ["DecodingLimits.frameCount", "DecodingLimits.animationPixelCount"], need: .cache
    ) { turn in
      let mark = turn.world.timeline.makeHand(of: 1)
      let file = try turn.world.files.data(of: mark, .animation)
      let (count, less) = (MarkFiles.frameCount, turn.roll(2))
      var limits = DecodingLimits()
      if turn.chance(1, in: 2) {
        limits.frameCount = count - less
      } else {
        limits.animationPixelCount = 64 * 64 * count - less
      }
      let cache = try turn.ownCache(of: .closure { _ in .encoded(file) }) { $0.limits = limits }
      do {
        let animation = try await turn.call("an animation with limits") {
          try await cache.animation(for: FreshEntity(turn), format: PlayFormats.moving)
        }
        turn.expect(animation.frameCount == count && less == 0, .wrongCount, "\(limits)")
        turn.expect(Mark(animation.image) == mark, .wrongPicture, "\(mark) within \(limits)")
      } catch let error as ImageCacheError { turn.expect(less == 1, "\(error) \(limits)") }
      await cache.close()
    },

    Step(
      "damaged images", ["ImageCache.Configuration.damagedImages", "Bitmap.isDamaged"],
      need: .cache
    ) { turn in
      // Large: the decoders keep blocks of rows.
      let file = try turn.world.files.data(of: Mark(subject: 1, revision: 0), .jpeg, side: 512)
      let shows = turn.chance(1, in: 2)
      let cut = file.prefix(file.count * 3 / 4)
      let cache = try turn.ownCache(of: .closure { _ in .encoded(cut) }) {
        $0.damagedImages = shows ? .showPart : .refuse
      }
      do {
        let image = try await turn.call("a request of a part") {
          try await cache.image(for: FreshEntity(turn), format: PlayFormats.row)
        }
        turn.expect(shows && image.isDamaged, "a part: \(image.isDamaged)")
        turn.expect(try image.makeBitmap().isDamaged, "a part without its mark")
      } catch let error as ImageCacheError {
        guard case .undecodable = error else { return turn.expect(false, "\(error)") }
        turn.expect(!shows, "\(error)")
      }
      await cache.close()
    },
  ]
}

extension Turn {
  /// A cache in memory that no other step knows.
  func ownCache(
    of source: any ImageSource, _ change: (inout ImageCache.Configuration) -> Void = { _ in }
  ) throws -> ImageCache {
    var configuration = ImageCache.Configuration()
    (configuration.source, configuration.device) = (source, .all)
    configuration.resources = LoadResources(decodeWidth: 1, networkWidth: 2, localWidth: 1)
    change(&configuration)
    return try ImageCache.inMemory(formats: PlayFormats.all, configuration: configuration)
  }
}
