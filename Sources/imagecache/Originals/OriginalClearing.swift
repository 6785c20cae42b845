import CommandSupport
import FastImageCache

/// Removes the originals and partials of one store, or those of them that a filter picks; other programs may have
/// the store open.
struct OriginalClearing {
  let store: OriginalFolders.Store
  let filter: ImageFilter

  func run() async throws {
    let found = try await store.store.inspect().filter(filter.passes)
    if filter.isEmpty {
      try await store.store.removeAll()
    } else {
      try await store.store.remove(found)
    }
    try await store.store.flush()
    let partialCount = found.count { $0.isUnfinished }
    Console.print(
      "\(store.title): \((found.count - partialCount).counted("original"))"
        + (partialCount > 0 ? " and \(partialCount.counted("partial"))" : "") + " removed")
  }
}
