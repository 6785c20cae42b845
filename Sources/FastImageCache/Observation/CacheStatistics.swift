import TableStore

/// Counts of what a cache has done since it was opened, and of what it holds now.
public struct CacheStatistics: Sendable {
  /// Requests answered from a table, by all caches of this process that share the tables.
  public internal(set) var hits = 0
  /// Requests that no table could answer.
  public internal(set) var misses = 0
  /// Requests that joined a load under way; they count as misses too.
  public internal(set) var coalescedRequests = 0
  /// Loads whose source delivered an image; bytes that no decoder knows, or beyond the limits, are none.
  public internal(set) var fetches = 0
  /// Encoded bytes that sources brought, those of loads that failed or were cancelled included. A download that is
  /// continued adds the bytes that it brings.
  public internal(set) var fetchedByteCount = 0
  /// Time spent waiting for sources, over all loads.
  public internal(set) var fetchDuration = Duration.zero
  /// Images and frames of animations decoded.
  public internal(set) var decodes = 0
  /// Time spent decoding, over all threads, by the clock: a thread's waits for its processor or for
  /// memory count.
  public internal(set) var decodeDuration = Duration.zero
  /// Images drawn into slots.
  public internal(set) var drawings = 0
  /// Time spent drawing, over all threads, by the clock; the waits of closures count.
  public internal(set) var drawDuration = Duration.zero
  /// Images written to tables.
  public internal(set) var stores = 0
  /// Images that could not be stored.
  public internal(set) var failedStores = 0
  /// Images whose requests got an error. A remembered one (``ImageCache/Configuration/failureMemory``) counts for
  /// each request, though no source is asked.
  public internal(set) var failures = 0
  /// Images of loads that ended with their last request, before the image was ready. A request that leaves others
  /// waiting does not count by itself.
  public internal(set) var cancellations = 0
  /// Loads under way now.
  public internal(set) var activeLoads = 0
  /// Callers and streams waiting now.
  public internal(set) var pendingRequests = 0
  /// One record for each format, in the order of the cache's formats.
  public internal(set) var tables: [Table] = []

  /// Hits as a part of all requests; 0 before the first one.
  public var hitRate: Double {
    hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
  }

  /// Counts of what one table holds.
  public struct Table: Sendable {
    /// The format's name.
    public let format: String
    /// Images kept.
    public let entryCount: Int
    /// Images that fit.
    public let slotCount: Int
    /// Images that are leased right now.
    public let leasedCount: Int
    /// Images that made room for others since the table was opened.
    public let evictionCount: Int
    /// Images that turned out to be damaged since the table was opened.
    public let damageCount: Int
    /// Bytes that the file occupies on disk, which may be fewer than its length; of memory for a cache
    /// in memory.
    public let diskByteCount: Int
    /// Bytes of address space that the file's mapping takes.
    public let mappedByteCount: Int
    /// Whether stored images reach the disk.
    public let storageState: StorageState
  }
}

extension CacheStatistics.Table {
  /// All zero for a format that is not stored on this kind of device.
  init(format: String, _ statistics: TableStatistics?) {
    self.format = format
    entryCount = statistics?.liveCount ?? 0
    slotCount = statistics?.slotCount ?? 0
    leasedCount = statistics?.leasedCount ?? 0
    evictionCount = statistics?.evictionCount ?? 0
    damageCount = statistics?.damageCount ?? 0
    diskByteCount = statistics?.diskByteCount ?? 0
    mappedByteCount = statistics?.mappedByteCount ?? 0
    storageState = StorageState(statistics?.storage ?? .ready)
  }
}
