import ImageSources
import Pixels
import TableStore

extension ImageCache {
  /// The best image of those that the tables have for an entity, at once, from any thread; never loads.
  ///
  /// Where several are there, the first of these that the policy allows:
  ///
  /// 1. the wanted image itself,
  /// 2. this version in a sibling format with these proportions: in the smallest format that is larger,
  ///    else in the largest,
  /// 3. this version in this format, or else in a sibling, after ``markStale(_:)``,
  /// 4. another version,
  /// 5. a placeholder (``LoadOptions/isPlaceholder``).
  ///
  /// The wanted image is an ``ImagePreview/Kind/variant(_:)`` of its own format, and settled; no other
  /// image is. An image that is found counts as used, so that others make room before it.
  ///
  /// ```swift
  /// if let (image, preview) = cache.bestCachedImage(for: photo, format: .row) {
  ///   show(image)
  ///   print(preview.isSettled ? "the image" : "until it is loaded")
  /// }
  /// ```
  ///
  /// Cost: a lookup under a lock, and one more for each format of the family until an image is found. The
  /// first look at an image of an earlier session reads and checks its pixels.
  ///
  /// - Parameters:
  ///   - entity: Its images are looked up.
  ///   - format: One of ``formats``; for any other the answer is `nil`.
  ///   - fallback: Which images may stand in.
  public nonisolated func bestCachedImage(
    for entity: some ImageEntity, format: ImageFormat, fallback: FallbackPolicy = FallbackPolicy()
  ) -> (image: CachedImage, preview: ImagePreview)? {
    guard let own = tables[format]?.format else { return nil }
    let search = VariantSearch(wanted: own, policy: fallback)
    let id = entity.imageID
    var best: (standing: TableVariant.Standing, image: CachedImage, preview: ImagePreview)?
    // The best format first, so that a later image has to be closer.
    for format in search.formats(among: formats) {
      let key = ImageKey(entity: id, version: entity.versionID(for: format), format: format.name)
      guard let (image, standing) = tables[format]?.variant(for: key),
        best.map({ standing < $0.standing }) ?? true,
        let preview = search.preview(standing, image.size, in: format)
      else { continue }
      best = (standing, image, preview)
      if standing == .current { break }
    }
    return best.map { ($0.image, $0.preview) }
  }

  /// Has the entity's images loaded anew for whoever asks, and shows them meanwhile to whoever takes
  /// the closest one.
  ///
  /// Afterwards the images are misses, and ``bestCachedImage(for:format:fallback:)`` finds them until the
  /// next image of the entity is stored in their format, or makes room before all others do. The next
  /// load asks the source whether a kept original has changed, before that answers; this holds for the originals of
  /// its URLs and ids (``ImageEntity/originalID(for:)``), whichever entity and account has loaded them. Loads
  /// of this cache that are under way answer their requests, and store nothing. A load of another cache of the
  /// process may still store its image, which is no longer stale then; no load of any cache with the store keeps
  /// its original.
  ///
  /// The mark lasts until the cache is closed, suspensions included, and holds for all caches of the process
  /// on this namespace. The table files stay as they are, so after that the images are hits again; the kept
  /// originals have to be revalidated then, too. Another process goes on finding the images.
  ///
  /// Cost: a lookup for each format, in a turn of its table; with a store of originals a look at each of its rows. The first question about an entity with an
  /// image of an earlier session reads 64 bytes.
  ///
  /// - Parameter entity: Its images of all formats and versions are meant.
  /// - Throws: ``ImageCacheError/protectedDataUnavailable(format:)``, ``ImageCacheError/storageUnavailable(_:)``,
  ///   ``ImageCacheError/closed``, after all images are marked that can be.
  public func markStale(_ entity: some ImageEntity) async throws(ImageCacheError) {
    let id = entity.imageID
    // As in a removal: the loads, then the originals, of which a load would draw the images again.
    _ = registry.remove(.originals(id))
    // Those of its addresses too, whoever has loaded them: the mark of an image may leave the table with it.
    let names = tables.all.flatMap { table in
      [entity.originalID(for: table.format)]
        + [entity.sourceURL(for: table.format), entity.lowDataURL(for: table.format)]
        .compactMap { $0.map { ImageID($0) } }
    }
    await originals?.markStale(
      OriginalOwner(namespace: ImageID(namespace), entity: id), Set(names))
    let failure = await failureOfTables { table async throws(ImageCacheError) in
      let removal = registry.remove(.entity(id, format: table.format.name))
      _ = try await table.remove(id, removal) { store throws(TableError) in
        try store.markStale(id.tableID)
      }
    }
    if let failure { throw failure }
  }
}
