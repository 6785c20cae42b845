public import Foundation
import OriginalStore
import Pixels
import TableStore

extension SourceStore {
  /// The original's bytes, each checked; `nil` when it is not there.
  ///
  /// Cost: one read of the file, on one of the store's two reading threads. Counts as a use.
  ///
  /// - Parameters:
  ///   - id: ``ImageEntity/originalID(for:)``, which is the URL by default.
  ///   - audience: The one that it was loaded for.
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)``, also while the device is locked, and
  ///   ``ImageCacheError/cancelled``.
  public func bytes(
    of id: ImageID, for audience: Audience = .everyone
  ) async throws(ImageCacheError) -> Data? {
    let key = OriginalKey(id, audience)
    return try await reading(Urgency(.current)) { shelf throws(TableError) in
      try shelf.read(key)?.bytes
    }
  }

  /// Writes a checked copy of the original, and nothing else, to a file.
  ///
  /// The copy is written beside the file and takes its place when it is whole. A link at the path is
  /// replaced. Counts as a use.
  ///
  /// - Parameters:
  ///   - id: As in ``bytes(of:for:)``.
  ///   - audience: The one that it was loaded for.
  ///   - file: A file URL, in a folder that exists.
  /// - Returns: Whether the original is there.
  /// - Throws: ``ImageCacheError/diskFull``, ``ImageCacheError/storageUnavailable(_:)``,
  ///   ``ImageCacheError/cancelled``; the file is as it was then.
  public func copyFile(
    of id: ImageID, for audience: Audience = .everyone, to file: URL
  ) async throws(ImageCacheError) -> Bool {
    guard file.isFileURL else {
      throw .storageUnavailable("\(file.abbreviated) is no file URL")
    }
    let (key, path) = (OriginalKey(id, audience), file.path)
    return try await reading(Urgency(.current)) { shelf throws(TableError) in
      try shelf.copyFile(of: key, to: path)
    }
  }

  /// Removes one original.
  ///
  /// A removed original does not come back after the process ends; after a power cut only once
  /// ``flush()`` has returned. Loads that are under way answer and keep nothing of it, whichever cache they
  /// load for.
  ///
  /// - Parameters:
  ///   - id: As in ``bytes(of:for:)``; nothing happens if it is not there.
  ///   - audience: The one that it was loaded for.
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)``; the original may be there then.
  public func remove(
    _ id: ImageID, for audience: Audience = .everyone
  ) async throws(ImageCacheError) {
    let key = OriginalKey(id, audience)
    try await remove(.original(OriginalName(id: id, audience: audience))) {
      shelf throws(TableError) in try shelf.remove(key)
    }
  }

  /// Removes the originals of an entity, of every audience; otherwise as ``remove(_:for:)``.
  ///
  /// `ImageCache.removeImages(for:)` does so too, with the pictures.
  ///
  /// - Parameter entity: An entity's ``ImageEntity/imageID``.
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)``, where one of them stays.
  public func removeAll(of entity: ImageID) async throws(ImageCacheError) {
    try await remove(.entity(entity)) { shelf throws(TableError) in
      try shelf.removeAll(of: entity.tableID)
    }
  }

  /// Removes the originals of an audience, of an account that signed out for example; otherwise as
  /// ``remove(_:for:)``.
  ///
  /// - Parameter audience: The one that they were loaded for.
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)``, where one of them stays.
  public func removeAll(for audience: Audience) async throws(ImageCacheError) {
    try await remove(.audience(audience)) { shelf throws(TableError) in
      try shelf.removeAll(forAudience: audience.name)
    }
  }

  /// Removes all originals; otherwise as ``remove(_:for:)``.
  ///
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)``, where one of them stays.
  public func removeAll() async throws(ImageCacheError) {
    try await remove(.all) { shelf throws(TableError) in try shelf.removeAll() }
  }

  /// Waits until removed originals stay removed after a power cut.
  ///
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)``.
  public func flush() async throws(ImageCacheError) {
    try await writing { shelf throws(TableError) in try shelf.flush() }
  }

  /// All originals, in no order.
  ///
  /// Cost: reads and checks every file. It is no use of the originals.
  ///
  /// - Throws: ``ImageCacheError/storageUnavailable(_:)``, ``ImageCacheError/cancelled``.
  public func inspect() async throws(ImageCacheError) -> [StoredOriginal] {
    do throws(OriginalsLocked) { try await open() } catch { throw .originalsLocked }
    let found = try await reading(Urgency(.current)) { shelf throws(TableError) in try shelf.list()
    }
    return found.map { original in
      let size = PixelSize(width: Int(original.facts.width), height: Int(original.facts.height))
      return StoredOriginal(
        id: ImageID(original.id), entity: ImageID(original.facts.entity),
        isForEveryone: original.isForEveryone, byteCount: original.byteCount,
        size: size.width > 0 && size.height > 0 ? size : nil,
        isPlaceholder: original.facts.isPlaceholder,
        isFresh: freshness(of: original.record) == .fresh,
        stored: Date(timeIntervalSince1970: Double(original.facts.stored)),
        lastUse: Date(timeIntervalSince1970: Double(original.record.lastUse) / 1_000_000))
    }
  }

  /// Whether a download for everyone broke off, so that the next load of the original can continue it.
  package func hasPartial(of id: ImageID) async -> Bool {
    // A store that is locked tells the load that follows.
    try? await open()
    return shelf.mayHavePartial(OriginalKey(id, .everyone))
  }
}

extension OriginalKey {
  init(_ id: ImageID, _ audience: Audience) { self.init(id.tableID, audience: audience.name) }

  init(_ name: OriginalName) { self.init(name.id, name.audience) }
}
