public import Foundation
import Pixels
import TableStore

extension ImageCache {
  /// Everything that tables and originals hold, and the loads under way; reads no pixels.
  ///
  /// ```swift
  /// for table in try await cache.inspect().tables {
  ///   print(table.format.name, table.entries.count, table.residentByteCount ?? 0)
  /// }
  /// ```
  ///
  /// The parts are looked at one after the other, while the cache goes on. Looking uses no image.
  ///
  /// Cost: for each image one read of at most a kilobyte, and for each original nothing but its place in
  /// the index; on threads of this cache.
  ///
  /// - Throws: ``ImageCacheError/protectedDataUnavailable(format:)``, ``ImageCacheError/storageUnavailable(_:)``,
  ///   ``ImageCacheError/closed``, and ``ImageCacheError/cancelled`` when the calling task is cancelled.
  public func inspect() async throws(ImageCacheError) -> CacheInspection {
    var inspected: [CacheInspection.Table] = []
    for table in tables.all {
      var entries: [CacheEntry] = []
      for try await entry in self.entries(in: table.format) { entries.append(entry) }
      let (figures, residency) = (table.store?.statistics, table.store?.residency)
      inspected.append(
        CacheInspection.Table(
          format: table.format, slotCount: figures?.slotCount ?? 0,
          entries: entries.sorted { $0.lastUse > $1.lastUse },
          diskByteCount: figures?.diskByteCount ?? 0,
          mappedByteCount: figures?.mappedByteCount ?? 0,
          residentByteCount: residency?.residentByteCount,
          dirtyByteCount: residency?.dirtyByteCount))
    }
    return CacheInspection(
      namespace: namespace, tables: inspected,
      originals: try await (originals as? OriginalStore)?.inspect() ?? [],
      loads: registry.loads.map { CacheInspection.Load($0) })
  }

  /// Everything that the tables of a namespace hold, whether a cache has it open or not, in this process
  /// or in another; reads no pixels.
  ///
  /// Files are read as they are: images that a process has stored beside the owner come to light when
  /// the owner takes them in, see <doc:SharedFolders>. Whether an image's pixels are intact only its use
  /// tells, or `imagecache verify`.
  ///
  /// Cost: for each image one read of at most a kilobyte, on a thread of its own.
  ///
  /// - Parameters:
  ///   - namespace: As ``knownNamespaces(in:)`` lists it, 1 to 255 bytes. One without a folder has no
  ///     tables.
  ///   - directory: As ``Configuration/directory``; this program's folder by default.
  /// - Throws: ``ImageCacheError/invalidNamespace(_:)``, ``ImageCacheError/storageUnavailable(_:)`` when
  ///   the folder cannot be read, and ``ImageCacheError/cancelled`` when the calling task is cancelled.
  public static func inspect(
    namespace: String, in directory: URL? = nil
  ) async throws(ImageCacheError) -> CacheInspection {
    try check(namespace: namespace, formats: [])
    let folder = directory ?? Storage.defaultDirectory
    let tables = try await Storage.onWorker { () throws(ImageCacheError) in
      do throws(TableError) {
        return try TableDirectory.tables(of: namespace, in: folder.path)
          .compactMap(CacheInspection.Table.init)
      } catch { throw ImageCacheError(error) }
    }
    return CacheInspection(namespace: namespace, tables: tables, originals: [], loads: [])
  }
}

extension CacheInspection.Table {
  /// `nil` for a table whose pixels this version does not know.
  fileprivate init?(_ reader: TableReader) {
    guard let format = ImageFormat(reader) else { return nil }
    self.format = format
    let residency = reader.residency
    slotCount = reader.slotCount
    entries = reader.entries().sorted { $0.recency > $1.recency }
      .filter { !$0.isFrame }
      .map { CacheEntry($0, format: format, byteCount: reader.slotByteCount) }
    diskByteCount = reader.diskByteCount
    mappedByteCount = 0
    residentByteCount = residency.residentByteCount
    dirtyByteCount = residency.dirtyByteCount
  }
}

extension ImageFormat {
  fileprivate init?(_ reader: TableReader) {
    let geometry = reader.geometry
    guard let code = ImageCode(rawValue: geometry.pixelFormat) else { return nil }
    let size = PixelSize(width: geometry.width, height: geometry.height)
    let (revision, capacity) = (Int(geometry.revision), Capacity.count(reader.slotCount))
    self.init(
      name: reader.name, size: code.keepsProportions ? .fitting(size) : .exact(size),
      pixelFormat: code.pixelFormat, revision: revision, capacity: capacity, quality: code.quality,
      colorSpace: code.colorSpace,
      animation: code.hasAnimations ? .allFrames(byteLimit: .max) : .firstFrame)
  }
}
