import TableStore

extension ImageCache {
  /// Whether the images and originals that a cache stores reach the disk.
  @nonexhaustive public enum StorageState: Hashable, Sendable {
    /// They do. So do those of a second process, which go to a file of its own first.
    case ready

    /// A table's file is there and can only be read. Its images are found; new ones are kept in memory until
    /// the cache is closed. The reason is a sentence that names the file.
    case readOnly(reason: String)

    /// There is no file or folder to be had, and images are kept in memory until the cache is closed; or no
    /// originals are kept. The reason is a sentence that names the file or folder.
    case unavailable(reason: String)
  }

  /// Where images and originals go, at the last time that a file was needed: the state of the worst table, or
  /// of the store of originals, which is opened at the first miss.
  ///
  /// ``CacheEvent/storageChanged(format:_:)`` tells of each change of a table, ``CacheEvent/original(_:_:)`` of a
  /// store that cannot be used, and ``CacheStatistics/Table/storageState`` of
  /// each table. A cache from ``inMemory(formats:configuration:)`` is `ready`. A disk that fills up under an
  /// open table is the error of each store that it refuses, and no other state.
  ///
  /// Cost: two short locks for each table, from any thread.
  public nonisolated var storageState: StorageState {
    let store = (originals as? OriginalStore)?.storageState
    let states = tables.all.map(\.storageState) + [store ?? .ready]
    func first(_ isWanted: (StorageState) -> Bool) -> StorageState? {
      states.first(where: isWanted)
    }
    return first { if case .unavailable = $0 { true } else { false } }
      ?? first { $0 != .ready } ?? .ready
  }
}

extension ImageCache.StorageState {
  init(_ storage: TableStorage) {
    self =
      switch storage {
      case .ready: .ready
      case .readOnly(let error): .readOnly(reason: error.description)
      case .unavailable(let error): .unavailable(reason: error.description)
      }
  }
}
