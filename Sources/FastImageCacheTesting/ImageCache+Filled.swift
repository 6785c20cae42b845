public import FastImageCache

extension ImageCache {
  /// Makes a cache in memory that holds images already, for previews and tests.
  ///
  /// ```swift
  /// import FastImageCacheTesting
  ///
  /// let cache = try ImageCache.filled(with: photos, formats: [.row])
  /// if let image = cache.cachedImage(for: photo, format: .row) { show(image) }
  /// ```
  ///
  /// Each image is drawn as its entity wants it and stored, in every format, on the calling thread,
  /// before this returns: a preview that is no `async` function has its images in the first frame.
  /// Images of other entities come from `source`, which by default refuses, so that neither a
  /// preview nor a test reaches the network. A format keeps as many images as its capacity allows,
  /// those that come last. Closures of ``Drawing/custom(_:)`` run on the calling thread too.
  ///
  /// Cost: one drawing and one copy into memory for each image and format.
  ///
  /// - Parameters:
  ///   - entities: Whose images; each once.
  ///   - formats: The tables; names must differ.
  ///   - source: Where other images come from.
  ///   - image: Makes an entity's image; ``Bitmap/sample(_:size:)`` of its id by default.
  /// - Throws: What ``inMemory(formats:configuration:)`` throws;
  ///   ``ImageCacheError/diskFull`` and ``ImageCacheError/storageUnavailable(_:)`` when there is no
  ///   room for an image; ``ImageCacheError/drawingFailed(entity:format:underlying:)``. That is the
  ///   error of `image` too, which is called once for all formats: it names the first of them.
  public static func filled<Entity: ImageEntity>(
    with entities: some Sequence<Entity>, formats: [ImageFormat],
    source: any ImageSource = ScriptedImageSource.refusing(),
    image: (Entity) throws -> Bitmap = { try .sample($0.imageID) }
  ) throws(ImageCacheError) -> ImageCache {
    let cache = try empty(formats, source)
    for entity in entities { try cache.fill(entity) { try image(entity) } }
    return cache
  }

  /// The same for entities of several types.
  ///
  /// - Parameters:
  ///   - entities: Whose images; each once.
  ///   - formats: The tables; names must differ.
  ///   - source: Where other images come from.
  ///   - image: Makes an entity's image; ``Bitmap/sample(_:size:)`` of its id by default.
  /// - Throws: The same.
  public static func filled(
    with entities: some Sequence<any ImageEntity>, formats: [ImageFormat],
    source: any ImageSource = ScriptedImageSource.refusing(),
    image: (any ImageEntity) throws -> Bitmap = { try .sample($0.imageID) }
  ) throws(ImageCacheError) -> ImageCache {
    let cache = try empty(formats, source)
    for entity in entities { try cache.fill(entity) { try image(entity) } }
    return cache
  }

  private static func empty(
    _ formats: [ImageFormat], _ source: any ImageSource
  ) throws(ImageCacheError) -> ImageCache {
    var configuration = Configuration()
    configuration.source = source
    return try inMemory(formats: formats, configuration: configuration)
  }

  private nonisolated func fill(
    _ entity: some ImageEntity, _ image: () throws -> Bitmap
  ) throws(ImageCacheError) {
    let bitmap: Bitmap
    do { bitmap = try image() } catch {
      throw .drawingFailed(
        entity: entity.imageID, format: formats.first?.name ?? "", underlying: error)
    }
    for format in formats { try fill(bitmap, for: entity, format: format) }
  }
}
