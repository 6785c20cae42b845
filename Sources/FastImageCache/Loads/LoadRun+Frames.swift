import ImageSources
import LoadQueue

/// Animations: their frames are drawn when the images are answered, which are their first ones.
extension LoadRun {
  /// The outcome of drawing some frames.
  enum FramesResult {
    case goesOn, done
    case failed(ImageCacheError)
  }

  /// Notes an image that was drawn for a request that wants its frames too, and answers those for its animation at once
  /// if there is nothing to draw.
  ///
  /// - Returns: The image whose frames are left to be drawn.
  func answer(
    _ request: ImageRequest, with outcome: InFlightRegistry.Outcome, _ motion: SlotMotion,
    _ source: SourceImage, _ facts: AnswerFacts
  ) -> FrameDrawing.Item? {
    let key = request.key.animation
    switch (outcome, motion, source.motion) {
    case (.failure, _, _):
      load.finish(key, isFetched: false, with: outcome, facts)
    case (.success(let image), .still, _):
      load.finish(
        key, isFetched: facts.side == .load, with: outcome, facts,
        animation: CachedAnimation(frames: StoredFrames(still: image)))
    case (.success(let image), _, .frames):
      return FrameDrawing.Item(request, first: image, motion: motion)
    case (.success, _, .refused(let error)):
      load.finish(key, isFetched: false, with: .failure(error), facts)
    case (.success, _, _):
      preconditionFailure("Only an image whose frames were looked for moves.")
    }
    return nil
  }

  /// Draws some frames, and answers the requests for their animations after the last ones.
  ///
  /// - Throws: Only where the load has ended.
  func drawSome(of drawing: inout FrameDrawing) async throws -> FramesResult {
    let urgency = load.isWanted ? load.urgency : Urgency(.low)
    do throws(ImageCacheError) {
      let isOver = try await drawing.drawSome(steps.renderer, urgency) { [load] in load.isUnderWay }
      guard isOver else { return .goesOn }
    } catch {
      try Task.checkCancellation()
      for item in drawing.items {
        load.finish(item.request.key.animation, isFetched: false, with: .failure(error))
      }
      return .failed(error)
    }
    for item in drawing.items {
      let key = item.request.key.animation
      let stored = item.animation
      let animation =
        stored
        ?? steps.playing.add(key, StreamedFrames(item, drawing.cursor.frames, steps.renderer))
      load.finish(
        key, isFetched: true, with: .success(item.first),
        AnswerFacts(side: .load, isStored: stored != nil), animation: animation)
    }
    return .done
  }

  /// Drops bytes that are too bad for an image's frames, kept by this load or an earlier one, so that the next request
  /// asks its source.
  func drop(
    _ image: FetchedImage, _ error: ImageCacheError, _ original: OriginalAccess?
  ) async {
    guard error.blamesBytes else { return }
    original?.keepNothing()
    if let body = image.keptBody { await original?.drop(body) }
  }
}

extension LoadSteps {
  /// The animation of a request whose first frame the table has; `nil` if it has not all frames.
  func animation(of request: ImageRequest, first: CachedImage) -> CachedAnimation? {
    request.table.animation(
      of: request.key, first: first, verifying: renderer.workers, recorder)
  }
}

extension [ImageRequest] {
  /// With those for animations at the end; most often there are none, and nothing is allocated.
  var imagesFirst: [ImageRequest] {
    guard count > 1, contains(where: \.key.isAnimation) else { return self }
    return filter { !$0.key.isAnimation } + filter(\.key.isAnimation)
  }

  /// Without the requests for animations whose images others ask for: one drawing answers both.
  var withoutAnimationsOfImages: [ImageRequest] {
    guard count > 1, contains(where: \.key.isAnimation) else { return self }
    let images = Set(map(\.key).filter { !$0.isAnimation })
    return filter { !$0.key.isAnimation || !images.contains($0.key.image) }
  }
}

extension [FrameDrawing] {
  /// Whether the frames of an image are among those that are drawn.
  func contains(_ image: ImageKey) -> Bool {
    contains { $0.items.contains { $0.request.key.image == image } }
  }
}

extension SlotMotion {
  /// The same for an image that its table did not take.
  var unkept: SlotMotion { nonce.map { .unkept(nonce: $0) } ?? .still }
}
