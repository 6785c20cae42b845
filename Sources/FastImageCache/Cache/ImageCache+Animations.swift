import ImageSources

/// Images with all their frames, in formats whose ``ImageFormat/animation-swift.property`` keeps them.
extension ImageCache {
  /// The entity's image with all its frames, from the table or, if one is missing, from its source.
  ///
  /// ```swift
  /// nonisolated extension ImageFormat {
  ///   static let sticker = ImageFormat(
  ///     name: "sticker", size: .fitting(PixelSize(width: 160, height: 160)),
  ///     animation: .allFrames(byteLimit: 16 << 20))
  /// }
  ///
  /// let animation = try await cache.animation(for: sticker, format: .sticker)
  /// ```
  ///
  /// A miss shares its load with all requests for the same URL. ``image(for:format:)`` has the first frame as soon as
  /// that is stored, and this call returns with the last one. An animation beyond the format's limit, or beyond the
  /// table's room, is decoded while it plays (``CachedAnimation/isStreamed``); all that show it share the frames.
  ///
  /// - Parameters:
  ///   - entity: Its image is looked up, and loaded if a frame is missing.
  ///   - format: One of ``formats``. If it keeps first frames only, the animation has one.
  /// - Returns: A lease on all frames.
  /// - Throws: As ``image(for:format:)``. Frames that cannot be read are an error, though the first one can:
  ///   ``ImageCacheError/undecodable(_:reason:)`` and ``ImageCacheError/imageTooLarge(_:_:)``.
  public nonisolated(nonsending) func animation(
    for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> CachedAnimation {
    if let animation = cachedAnimation(for: entity, format: format) { return animation }
    let request = try missedRequest(
      for: entity, format: format, isAnimation: format.hasAnimations)
    animations.expect(request.key)
    let outcome = await registry.image(for: request)
    let answer = animations.take(request.key)
    let first = try outcome.get()
    // Where the table had it meanwhile, no load has made it.
    return answer
      ?? request.table.animation(of: request.key, first: first, verifying: maker.workers)
      ?? CachedAnimation(frames: StoredFrames(still: first))
  }

  /// The entity's image with all its frames if the table has them, at once, from any thread; never loads.
  ///
  /// Frames of an earlier session are verified on a worker, in their order:
  /// ``CachedAnimation/frame(at:)`` shows the nearest earlier one meanwhile. A streamed animation is found as long as
  /// it is shown somewhere.
  ///
  /// Cost: a lookup for each frame, and one system call for each that this process has not seen.
  ///
  /// - Parameters:
  ///   - entity: Its image is looked up.
  ///   - format: One of ``formats``; for any other the answer is `nil`.
  public nonisolated func cachedAnimation(
    for entity: some ImageEntity, format: ImageFormat
  ) -> CachedAnimation? {
    guard let first = cachedImage(for: entity, format: format), let table = tables[format] else {
      return nil
    }
    let key = ImageKey(
      entity: entity.imageID, version: entity.versionID(for: format), format: format.name)
    return table.animation(of: key, first: first, verifying: maker.workers)
      ?? animations.playing(key.animation, first: first)
  }

  /// Whether the table has the entity's image with all frames that it keeps of it, and each of them is intact.
  ///
  /// Of an animation that is decoded while it plays it keeps the first one.
  ///
  /// Cost: reads the frames of earlier sessions on the calling thread.
  package nonisolated func hasIntactFrames(
    of entity: some ImageEntity, format: ImageFormat
  ) -> Bool {
    guard let first = cachedImage(for: entity, format: format), let table = tables[format] else {
      return false
    }
    guard case .stored(let motion) = first.motion else { return true }
    return (1..<motion.timeline.frameCount).allSatisfy {
      table.frame($0, of: entity.imageID, motion, verifies: true) != nil
    }
  }
}
