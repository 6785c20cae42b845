extension ImageCache {
  /// Images that get better: previews while the image loads, and last the image itself.
  ///
  /// ```swift
  /// for try await image in cache.updates(for: photo, format: .row) { show(image) }
  /// ```
  ///
  /// The loop ends after the image, which is its only element where the table has it. The closest image of
  /// the tables comes first, before anything is awaited (``LoadOptions/fallback``), then previews of what has
  /// arrived (``LoadOptions/previews``): none is worth less than one before. Those previews are drawn by
  /// the entity's recipe into private memory (``CachedImage/isPrivate``) and enter no table. There are none of
  /// kept originals, of local sources that deliver all bytes at once, of drawings that are closures, and in
  /// caches with ``Configuration/willStore``; nor while the workers are busy with images. A slow loop misses
  /// previews. Each loop over the sequence asks anew, and waits as a call of ``image(for:format:options:)``
  /// does: when it ends, the load ends too if nobody else waits for it.
  ///
  /// Cost: at most ``PreviewPolicy/limit`` decodes for each load, which all previews share with a tenth of a
  /// core (``LoadResources``).
  ///
  /// - Parameters:
  ///   - entity: Its image is loaded.
  ///   - format: One of ``formats``.
  ///   - options: The conditions, but for ``LoadOptions/timeout``: whoever has waited long enough stops
  ///     reading.
  public nonisolated func updates(
    for entity: some ImageEntity, format: ImageFormat, options: LoadOptions = .previewing
  ) -> ImageUpdates {
    ImageUpdates { self.progress(for: entity, format: format, options: options) }
  }
}

/// Previews and then the image, made by ``ImageCache/updates(for:format:options:)``.
///
/// Throws the errors of ``ImageCache/image(for:format:options:)``, and ``ImageCacheError/cancelled`` from a
/// cancellation of the calling task on.
public struct ImageUpdates: AsyncSequence, Sendable {
  public typealias Element = CachedImage
  public typealias Failure = ImageCacheError

  let begin: @Sendable () -> AsyncStream<ImageProgress>

  /// Begins the load, unless it is under way or the image is there.
  public func makeAsyncIterator() -> Iterator { Iterator(steps: begin().makeAsyncIterator()) }

  /// One loop over the images.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var steps: AsyncStream<ImageProgress>.Iterator
    private var isOver = false

    fileprivate init(steps: AsyncStream<ImageProgress>.Iterator) { self.steps = steps }

    /// The next better image, on the caller's actor; `nil` after the image itself.
    ///
    /// - Throws: ``ImageCacheError``, once.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ImageCacheError) -> CachedImage? {
      while !isOver {
        let step = await steps.next(isolation: actor)
        // The step may have come first, and waited for a busy actor while the task was cancelled.
        if Task.isCancelled { try end(with: .cancelled) }
        switch step {
        case .preview(let image, _): return image
        case .finished(let image):
          isOver = true
          return image
        case .failed(let error): try end(with: error)
        case nil: try end(with: .cancelled)
        default: continue
        }
      }
      return nil
    }

    private mutating func end(with error: ImageCacheError) throws(ImageCacheError) -> Never {
      isOver = true
      throw error
    }
  }
}
