import ImageSources
import TableStore

extension ImageCache {
  /// Lists the stored images of one format or of all, format by format in the order of ``formats``.
  ///
  /// The listing is not a snapshot: it reads about a hundred images at a time, when the loop comes to
  /// them. An image that is stored, changed or removed meanwhile may be missing or come twice, and an
  /// entry's image may be gone when the entry arrives. All others come once, in no order that means
  /// anything; where their table is emptied or handed over meanwhile, perhaps twice. Listing uses no
  /// image, leases none and keeps none from making room.
  ///
  /// Of an image of an earlier run that nobody has asked for yet, the ids are certain; its pixels are
  /// not read, so that it may turn out damaged, and size and metadata with it. An image in a table that
  /// another process owns is read and checked in full.
  ///
  /// Cost: for each image one read of at most a kilobyte, on a thread of this cache. Hits and stores go
  /// on; they wait for the table's lock some microseconds at most.
  ///
  /// - Parameter format: One of ``formats``; all if `nil`.
  public nonisolated func entries(in format: ImageFormat? = nil) -> CacheEntries {
    CacheEntries(tables: listedTables(format), workers: listing)
  }

  /// Removes the stored images that `isUnwanted` picks, of one format or of all.
  ///
  /// ```swift
  /// let monthAgo = Date.now.addingTimeInterval(-30 * 86_400)
  /// try await cache.removeImages { $0.dateStored < monthAgo }
  /// ```
  ///
  /// Goes through the images as ``entries(in:)`` does, and removes what it saw: an image that was
  /// stored in the place of a seen one stays. So loads under way still store theirs, unlike with
  /// ``removeImages(for:)-(ImageID)``. Leases on removed images stay valid. A removal outlives a power
  /// cut only after ``flush()``.
  ///
  /// Cost: as listing, and one small write for each removed image. The table's turn is held for about
  /// a hundred removals at a time.
  ///
  /// - Parameters:
  ///   - format: One of ``formats``; all if `nil`.
  ///   - isUnwanted: Asked once for each entry, on the caller's actor.
  /// - Returns: How many images were removed.
  /// - Throws: ``ImageCacheError/unknownFormat(_:)``, ``ImageCacheError/storageUnavailable(_:)``,
  ///   ``ImageCacheError/protectedDataUnavailable(format:)``, ``ImageCacheError/diskFull``,
  ///   ``ImageCacheError/closed``, and ``ImageCacheError/cancelled`` when the calling task is cancelled.
  ///   Some images may be removed then.
  @discardableResult
  public nonisolated(nonsending) func removeImages(
    in format: ImageFormat? = nil, where isUnwanted: (CacheEntry) -> Bool
  ) async throws(ImageCacheError) -> Int {
    var count = 0
    var iterator = entries(in: format).makeAsyncIterator()
    while let (table, entries) = try await iterator.nextPart() {
      if Task.isCancelled { throw .cancelled }
      let unwanted = entries.filter(isUnwanted).map(\.info)
      if unwanted.isEmpty { continue }
      let removed = try await table.remove(unwanted)
      count += removed.count
      for info in removed {
        recorder.send(
          .removed(entity: info.entity.known.map { ImageID($0) }, format: table.format.name))
      }
    }
    return count
  }

  private nonisolated func listedTables(
    _ format: ImageFormat?
  ) -> Result<[ImageTable], ImageCacheError> {
    guard let format else { return .success(tables.all) }
    return tables[format].map { .success([$0]) } ?? .failure(.unknownFormat(format.name))
  }
}
