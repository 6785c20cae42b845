import ImageSources
import Pixels

/// The memory of one cache that it can do without; gives it back when asked, and under memory pressure.
///
/// A cache owns it, and the watch knows it weakly: it ends with the cache.
final class TrimmableMemory: Sendable {
  private let tables: TableSet
  private let source: any ImageSource
  private let partials: PartialDownloads
  private let watch: MemoryPressureWatch

  init(
    tables: TableSet, source: any ImageSource, partials: PartialDownloads,
    watch: MemoryPressureWatch = .shared
  ) {
    (self.tables, self.source, self.partials, self.watch) = (tables, source, partials, watch)
    watch.add(self)
  }

  deinit { endWatch() }

  /// From now on pressure changes nothing here.
  func endWatch() { watch.remove(ObjectIdentifier(self)) }

  func trim(_ level: MemoryTrim) {
    SpareMemory.clearAll()
    for table in tables.all { table.freeSpareBuffers() }
    (source as? any IdleConnections)?.closeIdleConnections()
    if level == .spare { return }
    partials.clear()
    if level == .partials { return }
    for table in tables.all { table.coolPages() }
  }
}
