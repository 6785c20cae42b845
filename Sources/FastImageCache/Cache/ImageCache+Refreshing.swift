import TableStore

extension ImageCache {
  /// Asks the servers whether the entity's images have changed, and redraws those that have, in all
  /// formats that have one.
  ///
  /// The formats whose images come from one URL, in one version, share one request. A server that calls its original
  /// unchanged costs no decode, and images that were drawn from it stay what they are. The former images are shown until
  /// the new ones are there, and stay where asking fails. Without a store of originals nothing is known to
  /// ask about, and the sources load everything anew.
  ///
  /// ```swift
  /// let url = URL(fileURLWithPath: "/photos/1.jpg")
  /// let cache = try await ImageCache(formats: [.row])
  /// for format in try await cache.refresh(url) { print("\(format.name) is new") }
  /// ```
  ///
  /// Images that were marked stale (``markStale(_:)``) are drawn again in any case. Placeholders stay. Where no table
  /// has an image of a URL any more, the kept original that would answer is revalidated, and decoded once, so that the
  /// next request shows the present one; not on a locked device.
  ///
  /// - Parameters:
  ///   - entity: Its images in their present versions are meant; those without a source URL stay.
  ///   - options: The conditions of each request: the account, header fields, networks to avoid, the reach, the
  ///     priority, and the longest wait. A request asks its source in any case
  ///     (``LoadOptions/CachePolicy/revalidate``), and for all bytes under ``LoadOptions/CachePolicy/reload``.
  ///     Previews, variants, ``LoadOptions/isPlaceholder`` and ``LoadOptions/storage-swift.property`` mean nothing
  ///     here.
  /// - Returns: The formats whose images were drawn again, since they had changed, were marked stale, or are older than
  ///   the original that another entity's request has loaded, in the order of ``formats``.
  /// - Throws: The first error of a load, as ``image(for:format:options:)`` does, after all have ended; other
  ///   formats may be redrawn then. ``ImageCacheError/cancelled`` when the calling task is cancelled.
  @discardableResult
  public func refresh(
    _ entity: some ImageEntity, options: LoadOptions = LoadOptions()
  ) async throws(ImageCacheError) -> [ImageFormat] {
    guard life != .closed else { throw .closed }
    var options = options
    options.cachePolicy = max(options.cachePolicy, .revalidate)
    options.isPlaceholder = false
    options.storage = .all
    registry.forgetFailures(of: entity.imageID)
    // Here: from the numbers of the requests on, nothing may come between them and the registry.
    let hasOriginals = (try? await originals?.prepare()) != nil
    let known = requests(for: entity, options).compactMap { request in
      request.storedImageState.map { (request: request, image: $0) }
    }
    var urls = Set(known.map(\.request.url))
    options.storage = .originalsOnly
    let kept =
      !hasOriginals
      ? []
      : requests(for: entity, options).filter {
        registry.planner.kept(for: $0)?.isPlaceholder == false && urls.insert($0.url).inserted
      }
    try await awaitAll(known.map(\.request) + kept)
    return known.filter { request, image in
      let now = request.storedImageState
      return now?.isStale == false && now?.generation != image.generation
    }.map(\.request.format)
  }

  private func requests(for entity: some ImageEntity, _ options: LoadOptions) -> [ImageRequest] {
    tables.all.map {
      ImageRequest(entity: entity, table: $0, tables: tables, options: options)
    }.filter { $0.url != nil }
  }

  /// Waits for all requests, and throws the first error.
  private func awaitAll(_ requests: [ImageRequest]) async throws(ImageCacheError) {
    // A cancellation ends the reading.
    let (answers, queue) = AsyncStream<ImageCacheError?>.makeStream()
    registry.join(requests, .current) { (_, outcome: consuming InFlightRegistry.Outcome) in
      if case .failure(let error) = outcome { queue.yield(error) } else { queue.yield(nil) }
    }
    let timers = requests.compactMap { registry.startTimer(of: $0) }
    defer {
      for timer in timers { timer.task.cancel() }
      registry.leaveTogether { requests.map(\.subscriber) }
    }
    var failure: ImageCacheError?
    var answered = 0
    for await answer in answers.prefix(requests.count) {
      answered += 1
      failure = failure ?? answer
    }
    if answered < requests.count { throw .cancelled }
    if let failure { throw failure }
  }
}

extension ImageRequest {
  /// The image as the table's records tell, marked stale or not; `nil` if there is none.
  fileprivate var storedImageState: StoredImageState? {
    table.store?.storedImageState(for: key.tableKey)
  }
}
