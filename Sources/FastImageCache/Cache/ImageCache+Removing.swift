public import ImageSources
import TableStore

extension ImageCache {
  /// Removes the entity's image of one format, whatever its version.
  ///
  /// When this returns, no request finds the image any more; leases on it stay valid. A load under
  /// way still answers its requests and stores nothing; later requests start another one. Removed
  /// pixels stay in the file until their slot is used again; ``removeAllImages(in:)`` replaces the
  /// file. A removal outlives a power cut only after ``flush()``. Another process that owns the table
  /// goes on finding the image until this process comes to own it or has ended, see
  /// <doc:SharedFolders>.
  ///
  /// - Throws: ``ImageCacheError/unknownFormat(_:)``, ``ImageCacheError/storageUnavailable(_:)``,
  ///   ``ImageCacheError/protectedDataUnavailable(format:)``, ``ImageCacheError/diskFull``,
  ///   ``ImageCacheError/closed``.
  public func removeImage(
    for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) {
    try await removeImage(for: entity.imageID, format: format)
  }

  /// Removes the image of one format under an id, for whom the entity itself is gone.
  ///
  /// - Parameters:
  ///   - id: An entity's ``ImageEntity/imageID``.
  ///   - format: One of ``formats``.
  /// - Throws: As by entity.
  public func removeImage(
    for id: ImageID, format: ImageFormat
  ) async throws(ImageCacheError) {
    guard let table = tables[format] else { throw .unknownFormat(format.name) }
    try await remove(id, from: table)
  }

  /// Removes the entity's images of all formats.
  ///
  /// Its kept originals go first, those of every account that this ``namespace`` has loaded, and what is left
  /// of downloads that broke off. A load under way keeps none.
  ///
  /// An original belongs to the entity whose request loaded it. One that another entity of the same URL has
  /// loaded stays, as that entity's images do, and answers later requests of both;
  /// ``OriginalStore/remove(_:for:)`` removes it, whoever has it.
  ///
  /// - Throws: As ``removeImage(for:format:)-(ImageEntity,_)``, but for an unknown format, after all that can be
  ///   removed is removed. An error of the store comes before those of tables.
  public func removeImages(for entity: some ImageEntity) async throws(ImageCacheError) {
    try await removeImages(for: entity.imageID)
  }

  /// Removes the images of all formats under an id, and its kept originals, as by entity.
  ///
  /// - Parameter id: An entity's ``ImageEntity/imageID``.
  /// - Throws: As by entity.
  public func removeImages(for id: ImageID) async throws(ImageCacheError) {
    let namespace = ImageID(namespace)
    partials.remove(.entity(id, namespace: namespace))
    // First the originals, of which a load between would draw the images again; and before them the loads,
    // which would keep an original again.
    _ = registry.remove(.originals(id))
    let failure = await self.failure { () async throws(ImageCacheError) in
      try await originals?.remove(.entity(id, namespace: namespace))
    }
    let other = await failureOfTables { table async throws(ImageCacheError) in
      try await remove(id, from: table)
    }
    if let failure = failure ?? other { throw failure }
  }

  /// Removes all images of one format and gives their disk space back.
  ///
  /// A new file takes the old one's place; images on screen keep the old one alive until they are
  /// released.
  ///
  /// - Throws: As ``removeImage(for:format:)-(ImageEntity,_)``.
  public func removeAllImages(in format: ImageFormat) async throws(ImageCacheError) {
    guard let table = tables[format] else { throw .unknownFormat(format.name) }
    try await removeAll(in: table)
  }

  /// Removes all images of all formats and gives their disk space back. `reset` of the original
  /// library.
  ///
  /// - Throws: As ``removeImage(for:format:)-(ImageEntity,_)``, but for an unknown format; formats after the failing
  ///   one keep their images.
  public func removeAllImages() async throws(ImageCacheError) {
    partials.remove(.all(namespace: nil))
    for table in tables.all { try await removeAll(in: table) }
  }

  /// Waits until every image stored and every removal so far would survive a power cut; for sign-out.
  ///
  /// The removals of originals are those of all users of the store. What the store keeps may be lost in a power
  /// cut. An error of one table, or of the store, is thrown after all others have been flushed.
  ///
  /// Takes in the images of processes that have ended. In a process that does not own a table, stored images
  /// are in its guest file, which is brought to the device.
  ///
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)``, also when another process owns a table from
  ///   which this one removed images, or in which it stored some without a guest file;
  ///   ``ImageCacheError/protectedDataUnavailable(format:)``, ``ImageCacheError/diskFull``, ``ImageCacheError/closed``.
  public func flush() async throws(ImageCacheError) {
    let failure = await failureOfTables { table async throws(ImageCacheError) in
      try await table.write { store throws(TableError) in try store.flush() }
    }
    let other = await self.failure { () async throws(ImageCacheError) in
      try await originals?.flush()
    }
    if let failure = failure ?? other { throw failure }
  }

  /// Waits until all loads have ended, and the originals and partials that they keep are written; for
  /// programs that end then.
  ///
  /// A load that nobody waits for any more ends when its source does.
  package nonisolated func loadsHaveEnded() async { await registry.loadsHaveEnded() }

  /// Ends all loads, writes the order of use, and lets the files go.
  ///
  /// The originals of images that were delivered before are written when this returns, where the cache has a
  /// store; a source or a hook that does not end is not waited for. Requests get ``ImageCacheError/closed``;
  /// streams end; leases stay valid. A cache that loses its last reference without this call closes when its
  /// last load ends: loads go on for their requests.
  public func close() async {
    life = .closed
    expiry.end()
    spareMemory.pause()
    memory.endWatch()
    registry.close()
    // A store that other caches share waits no longer for this one to resume.
    originalsUser?.resume()
    await (originals as? OriginalStore)?.settle()
    // Closing throws nothing.
    for table in tables.all { try? await table.write { $0.close() } }
    recorder.finish()
  }

  /// The error with which a step ends; the steps after it are taken all the same.
  func failure(
    of step: () async throws(ImageCacheError) -> Void
  ) async -> ImageCacheError? {
    do throws(ImageCacheError) {
      try await step()
      return nil
    } catch {
      return error
    }
  }

  /// The first error of a step that each table takes, whatever the others throw.
  func failureOfTables(
    _ step: (ImageTable) async throws(ImageCacheError) -> Void
  ) async -> ImageCacheError? {
    var first: ImageCacheError?
    for table in tables.all {
      let failure = await failure { () async throws(ImageCacheError) in try await step(table) }
      first = first ?? failure
    }
    return first
  }

  func remove(_ entity: ImageID, from table: ImageTable) async throws(ImageCacheError) {
    let removal = registry.remove(.entity(entity, format: table.format.name))
    let isRemoved = try await table.remove(entity, removal)
    if isRemoved == true {
      recorder.send(.removed(entity: entity, format: table.format.name))
    }
  }

  private func removeAll(in table: ImageTable) async throws(ImageCacheError) {
    let removal = registry.remove(.format(table.format.name))
    _ = try await table.remove(nil, removal) { store throws(TableError) in try store.removeAll() }
    recorder.send(.removed(entity: nil, format: table.format.name))
  }
}

extension ImageCacheError {
  /// The same fault in the words of the public face.
  init(_ error: TableError, table: String = "") {
    switch error {
    case .diskFull: self = .diskFull
    case .closed: self = .closed
    case .protectedDataUnavailable(let name): self = .protectedDataUnavailable(format: name)
    case .inUse, .allSlotsLeased, .paused:
      self = .storageUnavailable("Table \"\(table)\": \(error)")
    default: self = .storageUnavailable("\(error)")
    }
  }
}
