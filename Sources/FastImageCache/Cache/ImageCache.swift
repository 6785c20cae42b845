public import Foundation
public import ImageSources
import LoadQueue
import Pixels

/// Images kept decoded: shown before, they are there again in nanoseconds.
///
/// ```swift
/// let cache = try await ImageCache(namespace: "photos", formats: [.row, .page])
/// let image = try await cache.image(for: photo, format: .row)
/// ```
///
/// The journey of a request, always to the right:
///
///     image(for:format:) ── hit ────────────────────────────────────────────────> CachedImage
///             └── miss -> InFlightRegistry -> ImageSource -> decode
///                                                  -> draw -> ImageTable -> CachedImage
///
/// A hit enters no actor and does not suspend, but for an image that has to be read and checked first, in a turn of its
/// table's actor: the first hit on one of an earlier session, and each one in a file that is copied from instead of
/// mapped. A miss suspends while other threads read, decode, draw and store.
///
/// The actor owns the cache's life: active, suspended or closed. The registry owns the loads under
/// way, and each table's actor the order in which this cache stores and removes its images.
///
/// `FICImageCache` of the original library. An app that wants one instance for everything keeps it
/// in a global: `let shared = Task { try await ImageCache(...) }`.
public final actor ImageCache {
  // An actor cannot be subclassed, but only `final` lets compilers of other modules call its methods
  // directly and specialise a hit for the caller's type of entity: some 700 instructions instead of 900,
  // awaited 800 instead of 1200.

  /// Names the folder that holds this cache's tables; empty for a cache in memory.
  public nonisolated let namespace: String

  /// The formats that the cache was made with, in the order given.
  public nonisolated let formats: [ImageFormat]

  /// The folder of this namespace's table files, which is inside ``Configuration/directory``; a path where no file can
  /// be for a cache in memory, which has none.
  public nonisolated let directory: URL

  nonisolated let tables: TableSet
  nonisolated let recorder: CacheRecorder
  nonisolated let registry: InFlightRegistry
  nonisolated let renderer: ImageRenderer
  nonisolated let originals: (any OriginalKeeping)?
  nonisolated let partials = PartialDownloads()
  nonisolated let playing = PlayingAnimations()
  nonisolated let clock: any TimeoutClock
  nonisolated let now: @Sendable () -> Date
  nonisolated let expiry = Expiry()
  /// Reads the files that are stored by hand, on several workers: a slow volume does not hold up the
  /// others.
  lazy var fileReading = WorkerPool(name: "FastImageCache.stored-files", width: 3)
  /// Reads tables for listings.
  nonisolated let listing = WorkerPool(name: "FastImageCache.listing", width: 1)
  /// Wanted while the cache is active.
  nonisolated let spareMemory = SpareMemoryUse()
  nonisolated let memory: TrimmableMemory

  /// Whether the cache works, has let its files go for a while, or for good.
  enum Life { case active, suspended, closed }

  /// Invariants:
  /// 1. `closed` is the last state.
  /// 2. A call changes the state first and the tables second; suspending and resuming look at it again
  ///    before each table. So the last of several calls has the last word on every table.
  var life = Life.active

  /// Suspends the store of originals; gone with the cache, and its suspension with it.
  lazy var originalsUser = (originals as? OriginalStore).map { OriginalUser(of: $0) }

  /// Opens the tables of a namespace, and creates those that are missing, without blocking the caller.
  ///
  /// Table files of formats that are not listed any more are deleted; nothing else in the folder is
  /// touched. Two caches of a process on one namespace share their tables, whose formats must have the
  /// same capacity and protection. A format of another size, pixel format, revision, quality or colour space, one up
  /// to a size where the first is exact, or one that keeps all frames where the first keeps one, gets an empty table of
  /// its own, which ends with this cache.
  /// A second process reads the images of the first and draws its own into a guest file, which the first
  /// one takes in later, see <doc:SharedFolders>. Where the folder or a table cannot be used, the cache reads what
  /// it can and keeps its images in memory: ``storageState`` tells.
  ///
  /// Cost: as for ``open(namespace:formats:configuration:)``, on another thread. A check and a write for each
  /// image in guest files that other processes left.
  ///
  /// - Parameters:
  ///   - namespace: Any text of 1 to 255 bytes.
  ///   - formats: One for each table; names must differ.
  ///   - configuration: The folder, the source and the limits.
  /// - Throws: ``ImageCacheError/invalidNamespace(_:)``, ``ImageCacheError/duplicateFormat(_:)``,
  ///   ``ImageCacheError/invalidFormat(_:reason:)``, ``ImageCacheError/protectedDataUnavailable(format:)``, and
  ///   ``ImageCacheError/cancelled`` when the task is cancelled before the tables are opened.
  ///   ``ImageCacheError/storageUnavailable(_:)`` and ``ImageCacheError/diskFull`` where
  ///   ``Configuration/requiresStorage`` is set, or there is no memory either;
  ///   ``ImageCacheError/originalsUnavailable(_:file:)`` where it is set.
  public init(
    namespace: String = "default", formats: [ImageFormat],
    configuration: Configuration = Configuration()
  ) async throws(ImageCacheError) {
    try Self.check(namespace: namespace, formats: formats)
    let recorder = CacheRecorder(of: namespace)
    if configuration.requiresStorage { try await configuration.originals?.open() }
    let storage = try await Storage.open(
      namespace: namespace, formats: formats, configuration: configuration, recorder: recorder)
    self.init(namespace, formats, configuration, storage, recorder)
  }

  /// Every cache is made here, whatever its tables are.
  init(
    _ namespace: String, _ formats: [ImageFormat], _ configuration: Configuration,
    _ storage: Storage, _ recorder: CacheRecorder
  ) {
    self.namespace = namespace
    self.formats = formats
    directory = storage.directory
    tables = storage.tables
    memory = TrimmableMemory(
      tables: storage.tables, source: configuration.source, partials: partials)
    self.recorder = recorder
    let resources = configuration.resources ?? LoadResources()
    renderer = ImageRenderer(configuration, resources.workers, recorder)
    originals = configuration.keeper
    (clock, now) = (configuration.clock, configuration.now)
    let planner = LoadPlanner(
      source: configuration.source, originals: configuration.keeper,
      namespace: ImageID(namespace))
    let steps = LoadSteps(
      planner: planner, renderer: renderer, recorder: recorder,
      encodedByteLimit: configuration.limits.encodedByteCount, partials: partials,
      playing: playing)
    registry = InFlightRegistry(
      resources, recorder: recorder, planner: planner, clock: clock,
      failureMemory: configuration.failureMemory
    ) { await LoadRun(load: $0, steps: steps).run() }
    configuration.originals?.listeners.add(recorder, partials)
    expiry.begin(in: self)
  }

  // MARK: Asking

  /// The entity's image, from the table or, if it is missing, from its source.
  ///
  /// A hit returns without suspending, from the main actor too: the image is there in the same frame. Only the first
  /// hit on an image of an earlier session suspends, as does each one in a file that is copied from instead of mapped:
  /// another process's, one on a network, one under complete protection. The image is read and checked elsewhere. On a
  /// miss the caller waits for a load, which all requests for the same URL share; it runs at the priority of the most
  /// urgent of them. Cancelling the calling task ends the wait at once. When nobody waits any more, the load ends too,
  /// and stores nothing but an image whose store has begun. Only a load that has delivered a fetched image goes on, and
  /// stores its other images, such as the family's. A request that waited and is cancelled before it goes on throws,
  /// even if its image has arrived meanwhile.
  ///
  /// ```swift
  /// let loading = Task {
  ///   if let image = try? await cache.image(for: photo, format: .row) { show(image) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - entity: Its image is looked up, and loaded if it is missing.
  ///   - format: One of ``formats``.
  /// - Returns: A lease on the image. It is private if the table could not take the image.
  /// - Throws: ``ImageCacheError/unknownFormat(_:)``, ``ImageCacheError/noSourceURL(entity:format:)``,
  ///   ``ImageCacheError/sourceFailed(_:underlying:)``, ``ImageCacheError/undecodable(_:reason:)``,
  ///   ``ImageCacheError/imageTooLarge(_:_:)``,
  ///   ``ImageCacheError/drawingFailed(entity:format:underlying:)``,
  ///   ``ImageCacheError/protectedDataUnavailable(format:)``, ``ImageCacheError/closed``, and
  ///   ``ImageCacheError/cancelled`` when the calling task is cancelled.
  @inlinable
  public nonisolated(nonsending) func image(
    for entity: some ImageEntity, format: ImageFormat
  ) async throws(ImageCacheError) -> CachedImage {
    // The generic part stands here, to be compiled for the caller's type.
    if let image = verifiedImage(
      of: entity.imageID, version: entity.versionID(for: format), format: format)
    {
      return image
    }
    return try await load(entity, format)
  }

  /// Waits for an image that the table does not have, or has not verified.
  @usableFromInline
  nonisolated(nonsending) func load(
    _ entity: some ImageEntity, _ format: ImageFormat, _ options: LoadOptions? = nil
  ) async throws(ImageCacheError) -> CachedImage {
    let request = try request(for: entity, format: format, options: options)
    if let image = try await storedImage(for: request) { return image }
    try noteMiss(of: request)
    return try await registry.image(for: request).get()
  }

  /// The entity's image, as by ``image(for:format:)``, under conditions.
  ///
  /// ```swift
  /// let url = URL(fileURLWithPath: "/photos/1.jpg")
  /// let cache = try await ImageCache(formats: [.row])
  /// var options = LoadOptions()
  /// options.cachePolicy = .reload
  /// let image = try await cache.image(for: url, format: .row, options: options)
  /// ```
  ///
  /// A load that was made to ask its source, and found the image changed, redraws the entity's images
  /// of the same URL in the other formats. If asking fails, the tables keep their images.
  ///
  /// - Parameters:
  ///   - entity: Its image is looked up, and loaded if it is missing or ``LoadOptions/cachePolicy-swift.property``
  ///     wants more.
  ///   - format: One of ``formats``.
  ///   - options: The conditions.
  /// - Throws: As ``image(for:format:)``, and ``ImageCacheError/notCached(entity:format:)``,
  ///   ``ImageCacheError/storageUnavailable(_:)`` where a locked device closes the original and the request
  ///   reaches no further, ``ImageCacheError/timedOut(entity:format:after:)``.
  public nonisolated(nonsending) func image(
    for entity: some ImageEntity, format: ImageFormat, options: LoadOptions
  ) async throws(ImageCacheError) -> CachedImage {
    if options.cachePolicy == .useCache,
      let image = verifiedImage(
        of: entity.imageID, version: entity.versionID(for: format), format: format)
    {
      return image
    }
    return try await load(entity, format, options)
  }

  /// The entity's image if the table has it, at once, from any thread; never loads.
  ///
  /// Cost: a lookup and one small object. No system call, except at the first hit on an image of an
  /// earlier session: that one reads its record, 64 bytes, and reads and checks its pixels.
  ///
  /// - Parameters:
  ///   - entity: Its image is looked up.
  ///   - format: One of ``formats``; for any other the answer is `nil`.
  @inlinable
  public nonisolated func cachedImage(
    for entity: some ImageEntity, format: ImageFormat
  ) -> CachedImage? {
    // The generic part stands here, to be compiled for the caller's type.
    cachedImage(of: entity.imageID, version: entity.versionID(for: format), format: format)
  }

  /// The image that answers a request at once: of the table, if the policy allows that, and of a
  /// placeholder, if the request is content with one.
  nonisolated func cachedImage(
    for entity: some ImageEntity, format: ImageFormat, _ options: LoadOptions?
  ) -> CachedImage? {
    guard options?.cachePolicy ?? .useCache == .useCache else { return nil }
    if let image = cachedImage(for: entity, format: format) { return image }
    guard options?.isPlaceholder == true else { return nil }
    let version = entity.versionID(for: format)
    return cachedImage(of: entity.imageID, version: version.placeholder, format: format)
  }

  @usableFromInline
  nonisolated func cachedImage(
    of entity: ImageID, version: ImageID, format: ImageFormat
  ) -> CachedImage? {
    guard let image = tables.cachedImage(entity: entity, version: version, format: format)
    else { return nil }
    noteHit(of: entity, format)
    return image
  }

  /// The same for an image that was verified before.
  @usableFromInline
  nonisolated func verifiedImage(
    of entity: ImageID, version: ImageID, format: ImageFormat
  ) -> CachedImage? {
    guard let image = tables.verifiedImage(entity: entity, version: version, format: format)
    else { return nil }
    noteHit(of: entity, format)
    return image
  }

  /// Whether the table has this version of the entity's image; the question is no use of it.
  ///
  /// Cost: a lookup under a lock. The first question about an entity with an image of an earlier
  /// session reads 64 bytes of the file.
  public nonisolated func containsImage(
    for entity: some ImageEntity, format: ImageFormat
  ) -> Bool {
    guard let table = tables[format] else { return false }
    return table.contains(ImageRequest(entity: entity, table: table, tables: tables).key)
  }

  /// Whether the table has an image under an id; changes no image, and not the order of use.
  ///
  /// Cost: as by entity.
  ///
  /// - Parameters:
  ///   - id: An entity's ``ImageEntity/imageID``.
  ///   - version: The version that counts, as ``ImageEntity/versionID(for:)`` names it; `nil` for any.
  ///   - format: One of ``formats``; for any other the answer is `false`.
  public nonisolated func containsImage(
    for id: ImageID, version: ImageID? = nil, format: ImageFormat
  ) -> Bool {
    guard let table = tables[format] else { return false }
    guard let version else { return table.contains(id) }
    return table.contains(ImageKey(entity: id, version: version, format: format.name))
  }

  /// The formats in which this version of the entity's image is there.
  public nonisolated func cachedFormats(for entity: some ImageEntity) -> [ImageFormat] {
    formats.filter { containsImage(for: entity, format: $0) }
  }

  /// The request for an image of one of this cache's formats.
  nonisolated func request(
    for entity: some ImageEntity, format: ImageFormat, options: LoadOptions? = nil,
    animation: AnimationAnswer? = nil, whenLoading: (@Sendable () -> Void)? = nil
  ) throws(ImageCacheError) -> ImageRequest {
    guard let table = tables[format] else {
      let error = ImageCacheError.unknownFormat(format.name)
      // An event too, since a list that ignores errors would just stay empty.
      let id = entity.imageID
      recorder.failed(ImageKey(entity: id, version: id, format: format.name), error)
      throw error
    }
    return ImageRequest(
      entity: entity, table: table, tables: tables, options: options, animation: animation,
      whenLoading: whenLoading)
  }

  /// The request for an image that no lookup found, or that its source is to be asked about.
  ///
  /// Throws where the table has the image and the device is locked: it is not loaded again.
  ///
  /// - Parameter isForTable: Throws for any image then, since a locked table takes none.
  // Inlined, it would have its variables in the frame of each task that waits, which costs an allocation.
  @inline(never)
  nonisolated func missedRequest(
    for entity: some ImageEntity, format: ImageFormat, options: LoadOptions? = nil,
    animation: AnimationAnswer? = nil, isForTable: Bool = false,
    whenLoading: (@Sendable () -> Void)? = nil
  ) throws(ImageCacheError) -> ImageRequest {
    let request = try request(
      for: entity, format: format, options: options, animation: animation,
      whenLoading: whenLoading)
    try noteMiss(of: request, isForTable: isForTable)
    return request
  }

  /// Counts a miss; throws as ``missedRequest(for:format:options:animation:isForTable:whenLoading:)``.
  nonisolated func noteMiss(
    of request: ImageRequest, isForTable: Bool = false
  ) throws(ImageCacheError) {
    // No other policy looks into the table first.
    if request.policy == .useCache { recorder.missed(request.key) }
    let isProtectedNow = isForTable ? request.table.isLocked : request.isProtectedNow
    guard isProtectedNow else { return }
    let error = ImageCacheError.protectedDataUnavailable(format: request.format.name)
    recorder.failed(request.key, error)
    throw error
  }
}
