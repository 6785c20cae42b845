extension ImageCache {
  /// The entity's image, as by ``image(for:format:options:)``, and the way by which it came.
  ///
  /// ```swift
  /// let url = URL(fileURLWithPath: "/photos/1.jpg")
  /// let cache = try await ImageCache(formats: [.row])
  /// let (image, report) = try await cache.load(url, format: .row)
  /// print(image.size, report.cacheStatus, report.totalDuration)
  /// ```
  ///
  /// Cost: two looks at the clock for a hit, which has no event ``CacheEvent/loaded(entity:format:_:)``. It suspends
  /// where ``image(for:format:options:)`` does.
  ///
  /// - Parameters:
  ///   - entity: Its image is looked up, and loaded if it is missing or ``LoadOptions/cachePolicy-swift.property``
  ///     wants more.
  ///   - format: One of ``formats``.
  ///   - options: The conditions.
  /// - Throws: As ``image(for:format:options:)``.
  public nonisolated(nonsending) func load(
    _ entity: some ImageEntity, format: ImageFormat, options: LoadOptions = LoadOptions()
  ) async throws(ImageCacheError) -> (image: CachedImage, report: LoadReport) {
    let start = clock.now
    if options.cachePolicy == .useCache,
      let image = verifiedImage(
        of: entity.imageID, version: entity.versionID(for: format), format: format)
    {
      return (image, LoadReport(ofHitAfter: clock.now - start))
    }
    let request = try request(for: entity, format: format, options: options)
    if let image = try await storedImage(for: request) {
      return (image, LoadReport(ofHitAfter: clock.now - start))
    }
    try noteMiss(of: request)
    let reporter = RequestReporter(of: request, since: start, recorder)
    let image = try await registry.image(for: request, reporter: reporter).get()
    guard let report = reporter.report else {
      preconditionFailure("A request that has its image has its report.")
    }
    return (image, report)
  }
}
