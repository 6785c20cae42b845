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
  /// Cost: of a verified image that of a hit; else a lookup under a lock and one system call.
  package nonisolated func find(_ entity: some ImageEntity, format: ImageFormat) -> Finding {
    find(
      ImageKey(
        entity: entity.imageID, version: entity.versionID(for: format), format: format.name),
      in: format)
  }

  private nonisolated func find(_ key: ImageKey, in format: ImageFormat) -> Finding {
    guard let table = tables[format], let store = table.store else { return .nothing }
    switch store.find(key.tableKey) {
    case .verified(let entry):
      noteHit(of: key.entity, format)
      return .image(table.image(of: entry))
    case .unverified(let isInMemory): return .unverified(isInMemory: isInMemory)
    case .missing: return .nothing
    }
  }

  /// The entity's image if the table has it; one that has to be read and checked first suspends its caller meanwhile.
  ///
  /// - Returns: `nil` also where the calling task is cancelled before the image is read.
  package nonisolated(nonsending) func storedImage(
    for entity: some ImageEntity, format: ImageFormat
  ) async -> CachedImage? {
    await storedImage(
      ImageKey(
        entity: entity.imageID, version: entity.versionID(for: format), format: format.name),
      in: format)
  }

  /// The same for a key of the format.
  nonisolated(nonsending) func storedImage(
    _ key: ImageKey, in format: ImageFormat
  ) async -> CachedImage? {
    switch find(key, in: format) {
    case .image(let image): return image
    case .nothing: return nil
    case .unverified: break
    }
    guard let image = await tables[format]?.verifiedImage(for: key) else { return nil }
    noteHit(of: key.entity, format)
    return image
  }

  @inline(__always)
  nonisolated func noteHit(of entity: ImageID, _ format: ImageFormat) {
    if recorder.hasListeners { recorder.hub.send(.hit(entity: entity, format: format.name)) }
  }
}
