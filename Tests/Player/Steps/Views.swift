import FastImageCache
import ImageViewing

extension Step {
  /// Places of views.
  static let views: [Step] = [
    Step(
      "place", [], weight: 2
    ) { turn in
      let others = turn.model.present(turn.entity)
      let options = turn.options(isPlain: true, policy: .useCache)
      let horizon = turn.horizon()
      let sight = await turn.call("a place") {
        await PlaceWalk.run(turn, options, former: others)
      }
      switch sight {
      case .image(let image): turn.see(image, since: horizon, "in a place")
      case .failure(let error): turn.note(error, options)
      case .other: turn.nothing()
      }
    }
  ]
}

/// One place on screen, from its first wish until it shows an image or an error.
@MainActor private final class PlaceWalk {
  enum End: Sendable {
    case image(CachedImage)
    case failure(ImageCacheError)
    case other
  }

  private let (ends, end) = AsyncStream<End>.makeStream()
  private let keeps: Bool
  private var kept: CachedImage?

  private init(keeps: Bool) { self.keeps = keeps }

  static func run(_ turn: Turn, _ options: LoadOptions, former: PlayEntity) async -> End {
    let walk = PlaceWalk(keeps: turn.plant == .keptImage)
    let place = ImagePlace(
      deliver: { job in Task { @MainActor in job() } }, show: { walk.show($0) })
    place.appear()
    // A recycled row: it wants another image first.
    let other = PlayEntity.all(in: turn.world).map(turn.model.present).first {
      $0.needsNoOptions && $0.number != turn.entity.number
        && turn.session.plan.wiring.serves($0.subject.scheme)
    }
    if let other {
      place.want(ImagePlace.Request(other, format: turn.format, cache: turn.cache))
      if turn.chance(1, in: 2) { for _ in 0..<turn.roll(200) { await Task.yield() } }
    }
    walk.isWatching = true
    place.want(
      ImagePlace.Request(turn.entity, format: turn.format, cache: turn.cache, options: options))
    if let image = walk.shown { return .image(image) }
    for await sight in walk.ends { return sight }
    return .other
  }

  private var isWatching = false
  private var shown: CachedImage?

  private func show(_ sight: ImagePlace.Sight) {
    switch sight {
    case .image(let image, _):
      let seen = keeps ? kept ?? image : image
      kept = kept ?? image
      if isWatching {
        shown = seen
        end.yield(.image(seen))
      }
    case .failure(let error): if isWatching { end.yield(.failure(error)) }
    default: break
    }
  }
}
