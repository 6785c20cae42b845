import ImageSources

/// Images with all their frames, in formats whose ``ImageFormat/animation-swift.property`` keeps them.
extension ImageCache {
  /// The entity's image with all its frames, from the table or, if one is missing, from its source.
  ///
  /// ```swift
  /// let sticker = ImageFormat(
  ///   name: "sticker", size: .fitting(PixelSize(width: 160, height: 160)),
  ///   animation: .allFrames(byteLimit: 16 << 20))
  /// let cache = try await ImageCache(formats: [sticker])
  /// let animation = try await cache.animation(for: photo, format: sticker)
  /// ```
  ///
  /// A miss shares its load with all requests for the same URL. ``image(for:format:)`` has the first frame as soon as
  /// that is stored, and this call returns with the last one. An animation beyond the format's limit, or beyond the
  /// table's room, is decoded while it plays (``CachedAnimation/isStreamed``); all that show it share the frames.
  ///
  /// - Parameters:
  ///   - entity: Its image is looked up, and loaded if a frame is missing.
  ///   - format: One of ``formats``. If it keeps first frames only, the animation has one.
  ///   - options: The conditions of the load, such as the account.
  /// - Returns: A lease on all frames; a still of the first one where the others are gone and the entity has no URL.
  /// - Throws: As ``image(for:format:options:)``. Frames that cannot be read are an error, though the first one can:
  ///   ``ImageCacheError/undecodable(_:reason:)`` and ``ImageCacheError/imageTooLarge(_:_:)``.
  public nonisolated(nonsending) func animation(
    for entity: some ImageEntity, format: ImageFormat, options: LoadOptions = LoadOptions()
  ) async throws(ImageCacheError) -> CachedAnimation {
    var options = options
    // A placeholder has one frame.
    let moves = format.hasAnimations && !options.isPlaceholder
    // Again where a frame was lost between the load's answer and this look.
    for _ in 0..<3 {
      if options.cachePolicy == .useCache,
        let animation = cachedAnimation(for: entity, format: format)
      {
        return animation
      }
      let answer = AnimationAnswer()
      let request = try missedRequest(
        for: entity, format: format, options: options,
        animation: moves ? answer : nil)
      options.cachePolicy = .useCache
      do throws(ImageCacheError) {
        let first = try await registry.image(for: request).get()
        if let animation = answer.animation { return animation }
        if !moves { return CachedAnimation(frames: StoredFrames(still: first)) }
      } catch .noSourceURL(let id, let name) {
        // Stored by hand, and the rest of its frames has made room for others.
        guard let first = cachedImage(for: entity, format: format) else {
          throw .noSourceURL(entity: id, format: name)
        }
        return CachedAnimation(frames: StoredFrames(still: first))
      }
    }
    return CachedAnimation(
      frames: StoredFrames(still: try await image(for: entity, format: format, options: options)))
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
    let motion = first.motion
    if case .unkept(let nonce) = motion { return playing.find(key.animation, nonce: nonce) }
    return table.animation(of: key, first: first, verifying: renderer.workers, recorder)
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
