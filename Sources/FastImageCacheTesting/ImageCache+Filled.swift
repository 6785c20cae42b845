public import FastImageCache

extension ImageCache {
  /// Makes a cache in memory that holds pictures already, for previews and tests.
  ///
  /// ```swift
  /// import FastImageCacheTesting
  ///
  /// let cache = try ImageCache.filled(with: photos, formats: [.row])
  /// if let image = cache.cachedImage(for: photo, format: .row) { show(image) }
  /// ```
  ///
  /// Each picture is drawn as its entity wants it and stored, in every format, on the calling thread,
  /// before this returns: a preview that is no `async` function has its pictures in the first frame.
  /// Pictures of other entities come from `source`, which by default refuses, so that neither a
  /// preview nor a test reaches the network. A format keeps as many pictures as its capacity allows,
  /// those that come last.
  ///
  /// Cost: one drawing and one copy into memory for each picture and format.
  ///
  /// - Parameters:
  ///   - entities: Whose pictures; each once.
  ///   - formats: The tables; names must differ.
  ///   - source: Where other pictures come from.
  ///   - picture: Makes an entity's picture; ``Bitmap/sample(_:size:)`` of its id by default.
  /// - Throws: What ``inMemory(formats:configuration:)`` throws, and
  ///   ``ImageCacheError/drawingFailed(entity:format:underlying:)``, with the error of `picture` too.
  public static func filled<Entity: ImageEntity>(
    with entities: some Sequence<Entity>, formats: [ImageFormat],
    source: any ImageSource = ScriptedImageSource.refusing(),
    picture: (Entity) throws -> Bitmap = { try .sample($0.imageID) }
  ) throws(ImageCacheError) -> ImageCache {
    var configuration = Configuration()
    configuration.source = source
    let cache = try inMemory(formats: formats, configuration: configuration)
    for entity in entities {
      let bitmap: Bitmap
      do { bitmap = try picture(entity) } catch {
        throw .drawingFailed(
          entity: entity.imageID, format: formats.first?.name ?? "", underlying: error)
      }
      for format in formats { try cache.fill(bitmap, for: entity, format: format) }
    }
    return cache
  }
}
