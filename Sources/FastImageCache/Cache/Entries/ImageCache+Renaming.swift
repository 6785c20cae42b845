public import ImageSources
import TableStore

extension ImageCache {
  /// Gives the stored images of one id to another, in all formats, without decoding: for an entity
  /// whose temporary id was replaced by its server's.
  ///
  /// ```swift
  /// let draft = ImageID(UUID())
  /// try await cache.moveImages(from: draft, to: ImageID("photo-7"))
  /// ```
  ///
  /// Versions stay; one that is the old id, as that of an entity without a URL, becomes the new id.
  /// Originals that a store has kept, and those that loads under way fetch, count as the new id's from then on.
  /// Images that the
  /// new id had are replaced, but no real one by a placeholder, which is dropped then. Leases on either stay
  /// valid. Metadata moves along. An image that turns out damaged is not moved, and gone.
  ///
  /// Loads under way for the old id answer their requests and store nothing; later requests for either id start
  /// others. Where an image moves, loads under way for the new id store nothing over it either.
  ///
  /// After a crash each format has its image under the old id, the new one, or both. In a full table
  /// the least recently used image makes room for the copy, since the image itself goes last. Another
  /// process that owns a table goes on finding the old id until this process comes to own it, see
  /// <doc:SharedFolders>.
  ///
  /// Cost: for each format that has the image, reading, checking and writing one slot in the table's
  /// turn. The move counts as a use.
  ///
  /// - Parameters:
  ///   - old: The id under which the images were stored.
  ///   - new: The id under which they are found afterwards; nothing happens if it is the same.
  /// - Returns: In how many formats an image moved.
  /// - Throws: ``ImageCacheError/diskFull``, ``ImageCacheError/storageUnavailable(_:)``, also when all
  ///   slots are leased, ``ImageCacheError/protectedDataUnavailable(format:)``, ``ImageCacheError/closed``. Formats
  ///   from the failing one on keep their images under the old id; calling again moves the rest.
  @discardableResult
  public func moveImages(
    from old: ImageID, to new: ImageID
  ) async throws(ImageCacheError) -> Int {
    guard life != .closed else { throw .closed }
    guard old != new else { return 0 }
    var count = 0
    for table in tables.all where try await change(old, to: new, in: table) { count += 1 }
    let owner = OriginalOwner(namespace: ImageID(namespace), entity: old)
    partials.remove(.entity(old, namespace: owner.namespace))
    await (originals as? OriginalStore)?.move(owner, to: new)
    return count
  }

  private func change(
    _ old: ImageID, to new: ImageID, in table: ImageTable
  ) async throws(ImageCacheError) -> Bool {
    let format = table.format.name
    // A load that is older than a removal, a picture by hand or a reload of the old id answers no later request of
    // the new one.
    let removal = registry.remove(.entity(old, format: format), and: .entity(new, format: format))
    return try await table.changeEntity(from: old, to: new, removal, recorder)
  }
}
