import Locking
import TableStore

extension ImageCache {
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
    let states = tables.all.map { StorageState($0.store?.storage ?? .ready) } + [store ?? .ready]
    func first(_ isWanted: (StorageState) -> Bool) -> StorageState? {
      states.first(where: isWanted)
    }
    return first { if case .unavailable = $0 { true } else { false } }
      ?? first { $0 != .ready } ?? .ready
  }

  /// Why a format's table refused an image the last time; `nil` if it never did.
  package nonisolated func storeFailure(in format: ImageFormat) -> String? {
    tables[format]?.storeFailure.withLock { $0 }?.description
  }
}
