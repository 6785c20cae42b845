import FastImageCache
import Foundation
import Locking
import Pixels

extension Step {
  /// Requests of one image.
  static let requests: [Step] = [
    Step(
      "image",
      [
        "ImageCache.image(for:format:)", "ImageEntity.sourceURL(for:)",
        "ImageEntity.versionID(for:)", "ImageEntity.originalID(for:)",
        "ImageEntity.providedImage(for:)",
      ], weight: 3, need: .entity(\.needsNoOptions)
    ) { turn in
      let horizon = turn.horizon()
      do {
        let image = try await turn.call("image(for:format:)") {
          try await turn.cache.image(for: turn.asked, format: turn.format)
        }
        turn.see(image, since: horizon)
        turn.expect(image.size == turn.size(of: image), "\(image.size)")
      } catch { turn.note(error) }
    },

    Step("image with options", ["ImageCache.image(for:format:options:)"], weight: 2) { turn in
      let (options, horizon) = (turn.options(), turn.horizon())
      do {
        let image = try await turn.call("image(for:format:options:)") {
          try await turn.cache.image(for: turn.asked, format: turn.format, options: options)
        }
        turn.see(image, since: horizon, "\(options)")
      } catch { turn.note(error, options) }
    },

    Step(
      "load",
      [
        "ImageCache.load(_:format:options:)", "LoadOptions.cachePolicy", "LoadOptions.storage",
        "LoadOptions.scope", "LoadOptions.account", "LoadOptions.headers",
        "LoadOptions.decoderSettings", "LoadOptions.allowsConstrainedNetworkAccess",
        "LoadOptions.allowsExpensiveNetworkAccess", "LoadOptions.originalLifetime",
        "LoadOptions.OriginalLifetime.init(_:renewsOnUse:)",
        "LoadOptions.OriginalLifetime.maximumAge", "LoadOptions.OriginalLifetime.renewsOnUse",
        "LoadOptions.timeout", "LoadOptions.init()",
      ], weight: 5
    ) { turn in
      let options = turn.options()
      let (horizon, time) = (turn.horizon(), turn.world.timeline.tick())
      do {
        let (image, report) = try await turn.call("load") {
          try await turn.cache.load(turn.asked, format: turn.format, options: options)
        }
        let mark = turn.see(
          image, since: turn.raised(horizon, options, time), "\(options) \(report)")
        turn.compare(report, options, mark)
        turn.learn(mark, report, options, turn.format, since: time)
      } catch { turn.note(error, options) }
    },

    Step("placeholder", ["LoadOptions.isPlaceholder"]) { turn in
      var options = turn.options(isPlain: true)
      options.isPlaceholder = true
      let horizon = turn.horizon()
      do {
        let image = try await turn.call("load of a placeholder") {
          try await turn.cache.image(for: turn.entity, format: turn.format, options: options)
        }
        turn.see(image, since: horizon, "\(options)")
      } catch { turn.note(error, options) }
    },

    Step(
      "together", [], weight: 2,
      need: .entity { $0.subject.scheme == .http && $0.subject.isSteady }
    ) { turn in
      // A fresh address, which only this step asks for: one request of the server, one decode.
      let entity = FreshEntity(turn)
      // What begins when the server was asked already may come when its answer was given, and ask again.
      let late = Lock(0)
      let answers = await turn.call("eight requests at once") {
        await withTaskGroup(of: Result<CachedImage, ImageCacheError>.self) { group in
          for index in 0..<8 {
            let format = [PlayFormats.row, PlayFormats.large, PlayFormats.gray][index % 3]
            group.addTask {
              if turn.world.server?.requestCount(entity.path) != 0 { late.withLock { $0 += 1 } }
              do throws(ImageCacheError) {
                return .success(try await turn.cache.image(for: entity, format: format))
              } catch { return .failure(error) }
            }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
      }
      for answer in answers {
        switch answer {
        case .success(let image):
          turn.expect(
            Mark(image)?.subject == turn.entity.subject.number, .wrongPicture, "\(entity)")
        case .failure(let error): turn.note(error)
        }
      }
      if turn.plant == .secondFetch {
        var options = LoadOptions()
        options.cachePolicy = .reload
        _ = try? await turn.cache.image(for: entity, format: PlayFormats.row, options: options)
      }
      let count = turn.world.server?.requestCount(entity.path) ?? 0
      let moved = turn.world.server?.requestCount(entity.movedPath) ?? 0
      let most = 1 + late.withLock(\.self)
      turn.expect(
        1...most ~= count && moved <= most, .wrongCount, "\(count) and \(moved) requests")
    },

    Step("cancelled", [], weight: 3) { turn in
      let (options, horizon) = (turn.options(), turn.horizon())
      let task = Task {
        try await turn.cache.image(for: turn.entity, format: turn.format, options: options)
      }
      await turn.rest()
      task.cancel()
      do {
        let image = try await turn.call("a cancelled request") { try await task.value }
        turn.see(image, since: horizon, "\(options)")
      } catch { turn.note(error, options, isCancelled: true) }
      turn.finds.count("cancels")
    },

    Step(
      "priority",
      ["RequestPriority.init(_:)", "RequestPriority.value", "LoadOptions.priority"]
    ) { turn in
      let priority = RequestPriority(.background)
      var options = turn.options(isPlain: true)
      options.priority = priority
      let horizon = turn.horizon()
      let request = Task { [options] in
        try await turn.cache.image(for: turn.entity, format: turn.format, options: options)
      }
      await turn.rest()
      priority.value = .high
      turn.expect(priority.value == .high, "\(priority.value)")
      do {
        let image = try await turn.call("a request that rises") { try await request.value }
        turn.see(image, since: horizon)
      } catch { turn.note(error, options) }
    },

    Step(
      "animation",
      [
        "ImageCache.animation(for:format:options:)", "CachedAnimation.frame(at:)",
        "CachedAnimation.frame(atTime:)", "CachedAnimation.==(_:_:)",
      ],
      weight: 2, need: .entity { $0.subject.isAnimated }
    ) { turn in
      let options = turn.options()
      let horizon = turn.horizon(PlayFormats.moving)
      do {
        let animation = try await turn.call("animation") {
          try await turn.cache.animation(
            for: turn.entity, format: PlayFormats.moving, options: options)
        }
        turn.watchFrames(of: animation, since: horizon, options)
        let same = animation
        turn.expect(animation == same, "an animation differs from itself")
      } catch { turn.note(error, options) }
    },
  ]
}

extension Turn {
  /// The size that an image of the turn's format has.
  fileprivate func size(of image: CachedImage) -> PixelSize {
    guard format.keepsProportions else { return format.size }
    return PixelSize(width: 40, height: 40)
  }

  /// What a request may show that asks its source.
  fileprivate func raised(
    _ horizon: Model.Horizon, _ options: LoadOptions, _ time: Int
  ) -> Model.Horizon {
    guard options.cachePolicy > .useCache, entity.subject.isSteady else { return horizon }
    return horizon.asking(at: time)
  }

  /// Compares how an image came with what may have happened.
  fileprivate func compare(_ report: LoadReport, _ options: LoadOptions, _ mark: Mark?) {
    let isRight =
      switch report.origin {
      // A store by hand answers whoever waits.
      case .table: options.cachePolicy == .useCache || mark?.maker == .hand
      case .original: hasOriginals
      case .revalidated: report.attemptCount > 0
      case .network: report.attemptCount > 0 && entity.subject.scheme == .http
      case .source: entity.subject.scheme != .own
      case .resumed: report.resumedByteCount > 0
      case .entity: entity.subject.scheme == .own
      }
    expect(isRight, "\(report) \(options)")
    finds.count("joined", report.isCoalesced ? 1 : 0)
  }

  /// Compares each frame: all of one picture, in order.
  func watchFrames(
    of animation: CachedAnimation, since horizon: Model.Horizon, _ options: LoadOptions
  ) {
    let first = see(animation.image, since: horizon, "\(options)")
    guard let first, first.maker == .source else { return }
    finds.count("animations")
    for index in 0..<animation.frameCount {
      let frame = animation.frame(at: index)
      guard frame.isReady else { continue }
      let mark = Mark(frame.image)
      finds.count("frames")
      expect(
        mark?.frame == frame.index && mark?.revision == first.revision
          && mark?.subject == first.subject, .wrongPicture,
        "frame \(frame.index) shows \(mark.map { "\($0)" } ?? "nothing"), the first \(first)")
    }
    let later = animation.frame(atTime: .milliseconds(MarkFiles.frameMilliseconds * 3 / 2))
    expect(
      animation.frameCount == 1 || later.index == 1 || !later.isReady, "frame \(later.index)")
  }
}

/// An entity of an address that no other step asks for.
struct FreshEntity: ImageEntity, CustomStringConvertible {
  let number: Int
  let name: String
  let subject: Subject
  let base: URL?
  var prerenders = true

  /// - Parameter name: Tells the entities of one turn apart.
  init(_ turn: Turn, _ name: String = "fresh") {
    (number, self.name, subject) = (turn.number, name, turn.entity.subject)
    base = turn.world.server?.url("")
  }

  var path: String { "/\(subject.number + 1_000)?fresh=\(number)" }
  var movedPath: String { "/\(subject.number + 1_000)?moved&fresh=\(number)" }
  var imageID: ImageID { ImageID("\(name) \(number)") }
  func sourceURL(for format: ImageFormat) -> URL? {
    URL(string: path, relativeTo: base)?.absoluteURL
  }
  func prerendersFamily(_ family: String) -> Bool { prerenders }
  var description: String { "fresh entity \(number) of \(subject.number)" }
}
