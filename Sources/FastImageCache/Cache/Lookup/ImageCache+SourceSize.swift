import LoadQueue
public import Pixels

extension ImageCache {
  /// Width and height of the source's image in pixels, upright, without a decode: to lay out a grid before its images
  /// are there.
  ///
  /// ```swift
  /// let size = try await cache.sourceSize(for: photo, format: .row)
  /// let height = 300 * Double(size.height) / Double(size.width)
  /// ```
  ///
  /// The stored image answers (``CachedImage/sourceSize``), or else the entity's own image
  /// (``ImageEntity/providedImage(for:)``), or the kept original. Otherwise the source is asked, and the download is
  /// cancelled when the header has come, as a rule within the first kilobytes. All bytes come of a WebP file with EXIF
  /// data, and of a source that delivers them at once. Nothing is stored, and no load is shared: one of the same
  /// URL downloads beside it.
  ///
  /// - Parameters:
  ///   - entity: Its source is meant, in the present version.
  ///   - format: One of ``formats``, for which the entity names its source.
  /// - Throws: As ``image(for:format:)``; no limit on sizes applies.
  @concurrent
  public nonisolated func sourceSize(
    for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> PixelSize {
    let request = try request(for: entity, format: format)
    if let size = request.storedImage()?.sourceSize { return size }
    if registry.isClosed { throw .closed }
    let load = Load(
      id: LoadID(number: request.generation, index: -1), url: request.url, priority: .current,
      registry: registry)
    defer { load.permit.close() }
    do {
      let sizing = SourceSizing(planner: registry.planner, decoding: renderer.decoding)
      return try await sizing.size(for: request, by: load)
    } catch {
      throw Task.isCancelled ? .cancelled : ImageCacheError(loadEndedBy: error, url: request.url)
    }
  }
}
