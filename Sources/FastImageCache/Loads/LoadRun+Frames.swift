import ImageSources

/// Animations: their frames are drawn when the images are answered, which are their first ones.
extension LoadRun {
  /// Notes an image that was drawn for a request that wants its frames too, and answers those for its animation at once
  /// if there is nothing to draw.
  ///
  /// - Returns: The image whose frames are left to be drawn.
  func answer(
    _ request: ImageRequest, with outcome: InFlightRegistry.Outcome, _ motion: SlotMotion,
    _ picture: SourcePicture, _ facts: AnswerFacts
  ) -> FrameDrawing.Item? {
    let key = request.key.animation
    switch (outcome, motion, picture.motion) {
    case (.failure, _, _):
      load.finish(key, isFetched: false, with: outcome, facts)
    case (.success(let image), .still, _):
      steps.animations.give(key) { CachedAnimation(frames: StoredFrames(still: image)) }
      load.finish(key, isFetched: false, with: outcome, facts)
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
  /// - Returns: Whether all are drawn, or none of the rest can be.
  func step(_ drawing: inout FrameDrawing) async throws -> Bool {
    do throws(ImageCacheError) {
      let isOver = try await drawing.step(steps.maker, load.urgency) { [load] in load.isUnderWay }
      guard isOver else { return false }
    } catch {
      try Task.checkCancellation()
      for item in drawing.items {
        load.finish(item.request.key.animation, isFetched: false, with: .failure(error))
      }
      return true
    }
    for item in drawing.items {
      let (key, animation) = (item.request.key.animation, item.animation)
      steps.animations.give(key) {
        animation
          ?? CachedAnimation(
            frames: StreamedFrames(item, drawing.cursor.frames, steps.maker))
      }
      load.finish(
        key, isFetched: false, with: .success(item.first),
        AnswerFacts(side: .load, isStored: animation != nil))
    }
    return true
  }

  /// Has the animation of a request that the table answers ready for it; false if the table has not all frames.
  func giveAnimation(of request: ImageRequest, first: CachedImage) -> Bool {
    guard request.key.isAnimation else { return true }
    let animation = request.table.animation(
      of: request.key, first: first, verifying: steps.maker.workers)
    guard let animation else { return false }
    steps.animations.give(request.key) { animation }
    return true
  }
}

extension [ImageRequest] {
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
  var unstored: SlotMotion { self == .still ? .still : .streamed }
}
