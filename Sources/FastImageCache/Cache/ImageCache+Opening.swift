extension ImageCache {
  /// Opens the tables of a namespace before it returns, so that ``cachedImage(for:format:)`` can answer
  /// in the first frame of a launch.
  ///
  /// ```swift
  /// let cache = try ImageCache.open(namespace: "photos", formats: [.row, .page])
  /// if let image = cache.cachedImage(for: photo, format: .row) { show(image) }
  /// ```
  ///
  /// Does what ``init(namespace:formats:configuration:)`` does, on the calling thread, which waits for
  /// the disk.
  ///
  /// Cost: less than half a millisecond for 100 000 images. The first time after a start of the system 64 bytes
  /// are read for each image: less than 0.1 ms for 1 000 images whose records are in memory. On a cold disk the
  /// disk decides; a thread that must not wait for it uses the asynchronous initialiser.
  ///
  /// - Parameters:
  ///   - namespace: Any text of 1 to 255 bytes.
  ///   - formats: The tables; names must differ.
  ///   - configuration: Where, from what source, and within what limits.
  /// - Throws: What the asynchronous initialiser throws, except ``ImageCacheError/cancelled``.
  public static func open(
    namespace: String = "default", formats: [ImageFormat],
    configuration: Configuration = Configuration()
  ) throws(ImageCacheError) -> ImageCache {
    try check(namespace: namespace, formats: formats)
    let recorder = CacheRecorder(of: namespace)
    if configuration.requiresStorage { try configuration.originals?.openBlocking() }
    let storage = try Storage.open(namespace, formats, configuration, recorder)
    return ImageCache(namespace, formats, configuration, storage, recorder)
  }

  /// Makes an empty cache that leaves nothing on disk.
  ///
  /// ```swift
  /// let cache = try ImageCache.inMemory(formats: [.row, .page])
  /// ```
  ///
  /// It is a cache like any other, for tests, previews, and images that must not outlive the program:
  /// hits, families, eviction and removal cost and do the same. Its tables are nobody else's, and gone
  /// with the cache and the last ``CachedImage``, however the process ends. ``flush()``, ``suspend()``
  /// and ``resume()`` have nothing to do.
  ///
  /// The tables take memory for images that were stored, up to the formats' capacities:
  /// - On Linux they are files of memory, memfd_create(2). The pages count as shared memory of the
  ///   process (`RssShmem`) and of its control group, and cannot be dropped: the system swaps them, or
  ///   ends a process. So choose capacities by the memory that is there.
  /// - On Apple platforms they are files in the temporary folder that lose their name as they are made.
  ///   Their pages are page cache; the system may write them to the disk, where nothing leads to them.
  ///   A process that is killed between making a file and taking its name leaves an empty file.
  ///
  /// Cost: a few system calls for each format; blocks for nothing else.
  ///
  /// - Parameters:
  ///   - formats: The tables; names must differ.
  ///   - configuration: From what source, and within what limits; its directory is not used.
  /// - Throws: ``ImageCacheError/duplicateFormat(_:)``, ``ImageCacheError/invalidFormat(_:reason:)``,
  ///   and ``ImageCacheError/storageUnavailable(_:)`` or ``ImageCacheError/diskFull`` when the system
  ///   makes no such file.
  public static func inMemory(
    formats: [ImageFormat], configuration: Configuration = Configuration()
  ) throws(ImageCacheError) -> ImageCache {
    try check(formats)
    let recorder = CacheRecorder()
    let storage = try Storage.inMemory(formats, configuration, recorder)
    return ImageCache("", formats, configuration, storage, recorder)
  }

  /// Looks at what the caller named before any file is opened.
  static func check(namespace: String, formats: [ImageFormat]) throws(ImageCacheError) {
    guard (1...255).contains(namespace.utf8.count) else { throw .invalidNamespace(namespace) }
    try check(formats)
  }

  private static func check(_ formats: [ImageFormat]) throws(ImageCacheError) {
    var names: Set<String> = []
    for format in formats {
      if let problem = format.problem { throw .invalidFormat(format.name, reason: problem) }
      guard names.insert(format.name).inserted else { throw .duplicateFormat(format.name) }
    }
  }
}
