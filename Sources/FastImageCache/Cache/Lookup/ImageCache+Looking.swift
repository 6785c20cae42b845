import TableStore

/// Looks at stored images that do not keep their caller waiting for a disk.
extension ImageCache {
  /// What a look finds at once.
  package enum Finding: Sendable {
    case image(CachedImage)

    /// An image that nobody has looked at in this session, or in a file that is copied from: it is read and checked
    /// first, by ``ImageCache/cachedImage(for:format:)`` on its caller's thread, and by
    /// ``ImageCache/storedImage(for:format:)`` elsewhere.
    case unverified(isInMemory: Bool)

    case nothing
  }

  /// The entity's image, unless it has to be read and checked first; from any thread.
  ///
  /// Cost: of a verified image that of a hit; else a lookup under a lock, and one system call for an unverified one.
  package nonisolated func find(_ entity: some ImageEntity, format: ImageFormat) -> Finding {
    let (id, version) = (entity.imageID, entity.versionID(for: format))
    if let image = verifiedImage(of: id, version: version, format: format) { return .image(image) }
    guard let table = tables[format] else { return .nothing }
    return find(ImageKey(entity: id, version: version, format: format.name), in: table)
  }

  /// The same for the images that may answer a request: the wanted one, or else the placeholder, if the request is
  /// content with one.
  nonisolated func find(_ request: ImageRequest) -> Finding {
    guard request.policy == .useCache else { return .nothing }
    let found = find(request.realKey, in: request.table)
    guard case .nothing = found, request.isPlaceholder else { return found }
    return find(request.key, in: request.table)
  }

  private nonisolated func find(_ key: ImageKey, in table: ImageTable) -> Finding {
    switch table.store?.find(key.tableKey) {
    case .verified(let entry)?:
      noteHit(of: key.entity, table.format)
      return .image(table.image(of: entry))
    case .unverified(let isInMemory)?: return .unverified(isInMemory: isInMemory)
    case .missing?, nil: return .nothing
    }
  }

  /// The entity's image if the table has it; one that has to be read and checked first suspends its caller meanwhile.
  ///
  /// - Returns: `nil` also where the calling task is cancelled before the image is read.
  package nonisolated(nonsending) func storedImage(
    for entity: some ImageEntity, format: ImageFormat
  ) async -> CachedImage? {
    guard let table = tables[format] else { return nil }
    return await verifiedImage(
      for: ImageRequest(entity: entity, table: table, tables: tables))
  }

  /// The image that answers a request without a load.
  ///
  /// - Throws: ``ImageCacheError/cancelled`` where the calling task is cancelled while the image is read.
  nonisolated(nonsending) func storedImage(
    for request: ImageRequest
  ) async throws(ImageCacheError) -> CachedImage? {
    switch find(request) {
    case .image(let image): return image
    case .unverified:
      let image = await verifiedImage(for: request)
      if Task.isCancelled { throw .cancelled }
      return image
    case .nothing: return nil
    }
  }

  /// Reads and checks an image that was found unverified; `nil` also where the calling task is cancelled before.
  nonisolated(nonsending) func verifiedImage(for request: ImageRequest) async -> CachedImage? {
    guard let image = await request.table.verified(request.storedImage) else { return nil }
    noteHit(of: request.key.entity, request.format)
    return image
  }

  @inline(__always)
  nonisolated func noteHit(of entity: ImageID, _ format: ImageFormat) {
    if recorder.hasListeners { recorder.send(.hit(entity: entity, format: format.name)) }
  }
}
