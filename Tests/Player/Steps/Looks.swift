import FastImageCache
import Foundation

extension Step {
  /// Looks at what is there, which wait for nothing.
  static let looks: [Step] = [
    Step("cachedImage", ["ImageCache.cachedImage(for:format:)"], weight: 2) { turn in
      let horizon = turn.horizon()
      guard let image = turn.cache.cachedImage(for: turn.entity, format: turn.format) else {
        return turn.nothing()
      }
      if turn.plant == .keptLease { turn.session.keep(image) }
      if let mark = turn.see(image, since: horizon) {
        turn.model.shown(mark, of: turn.entity, turn.format)
      }
    },

    Step(
      "bestCachedImage",
      [
        "ImageCache.bestCachedImage(for:format:fallback:)", "FallbackPolicy.init(smallestScale:)",
        "FallbackPolicy.smallestScale", "FallbackPolicy.allowsOtherVersions",
        "FallbackPolicy.allowsOtherProportions", "LoadOptions.fallback",
      ]
    ) { turn in
      var policy = FallbackPolicy()
      policy.smallestScale = 0.1
      policy.allowsOtherVersions = false
      policy.allowsOtherProportions = true
      let horizons = PlayFormats.all.map { ($0, turn.horizon($0)) }
      guard
        let best = turn.cache.bestCachedImage(
          for: turn.entity, format: turn.format, fallback: policy)
      else { return turn.nothing() }
      guard case .variant(let format) = best.preview.kind else {
        return turn.nothing()
      }
      let horizon = horizons.first { $0.0 == format }?.1
      if let horizon { turn.see(best.image, since: horizon, "the closest: \(format.name)") }
    },

    Step(
      "contains",
      [
        "ImageCache.containsImage(for:format:)", "ImageCache.containsImage(for:version:format:)",
        "ImageCache.cachedFormats(for:)",
      ]
    ) { turn in
      let formats = turn.cache.cachedFormats(for: turn.entity)
      turn.expect(formats.allSatisfy(PlayFormats.all.contains), "\(formats)")
      let never = ImageID("a version that never was")
      turn.expect(
        !turn.cache.containsImage(
          for: turn.entity.imageID, version: never, format: turn.format), "\(never)")
      turn.expect(
        !turn.cache.containsImage(for: FreshEntity(turn), format: turn.format), "a fresh entity")
    },

    Step(
      "pixels",
      [
        "CachedImage.makeBitmap()", "CachedImage.pngData()", "CachedImage.jpegData(quality:)",
        "CachedImage.data(encodedBy:)", "CachedImage.prepareForDisplay()", "Bitmap.pngData()",
        "Bitmap.init(decoding:upTo:colorSpace:decoders:limits:)", "Bitmap.isDamaged",
        "ImageHeader.init(of:)",
      ]
    ) { turn in
      guard let image = turn.cache.cachedImage(for: turn.entity, format: turn.format),
        let mark = Mark(image)
      else { return turn.nothing() }
      await turn.call("prepareForDisplay") { await image.prepareForDisplay() }
      turn.expect(Mark(try image.makeBitmap()) == mark, "the bitmap of \(mark)")
      let encoded = [
        try image.pngData(), try image.jpegData(quality: 0.9),
        try image.data(encodedBy: .losslessWebP), try image.makeBitmap().pngData(),
      ]
      for data in encoded {
        let header = try ImageHeader(of: data)
        turn.expect(header.size == image.size, "\(header.size)")
        let decoded = try Bitmap(decoding: data)
        turn.expect(
          Mark(decoded) == mark && !decoded.isDamaged,
          "\(mark), encoded as \(header.type.map { "\($0)" } ?? "nothing")")
      }
    },

    Step(
      "cachedAnimation", ["ImageCache.cachedAnimation(for:format:)"],
      need: .entity { $0.subject.isAnimated }
    ) { turn in
      let horizon = turn.horizon(PlayFormats.moving)
      guard
        let animation = turn.cache.cachedAnimation(for: turn.entity, format: PlayFormats.moving)
      else { return turn.nothing() }
      turn.watchFrames(of: animation, since: horizon, LoadOptions())
    },
  ]
}
