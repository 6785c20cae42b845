import ImageSources
import TableStore

extension ImageCache {
  /// How near to the screen a prefetch brings its images.
  public enum PrefetchDepth: Sendable {
    /// Into the table.
    case disk
    /// Into the table, and from there into memory, so that showing the image waits for no disk.
    case memory
  }

  /// How far a prefetch has come.
  public struct PrefetchProgress: Hashable, Sendable {
    /// Images that are in the table.
    public internal(set) var loadedCount = 0
    /// Images whose load failed; ``ImageCache/events(bufferSize:)`` tells why.
    public internal(set) var failedCount = 0
    /// Images that the table has no room for; those beyond its capacity are not loaded at all.
    public internal(set) var leftOutCount = 0
    /// Images asked for.
    public internal(set) var totalCount = 0

    /// Whether nothing is left to do.
    public var isFinished: Bool { loadedCount + failedCount + leftOutCount == totalCount }
  }

  /// Loads the images of many entities at low priority, so that requests for images on screen go
  /// first.
  ///
  /// The loads begin in the order of `entities`, a few at the same time: each once the one before it asks
  /// its source. So entities whose ``ImageEntity/providedImage(for:)`` takes long are asked one after the other.
  /// A prefetch loads no more
  /// images than the table has room for beside those on screen: the first entities get their
  /// images, the others are left out. An image that is in the table already counts as loaded and
  /// does not make room for a later one. A format that is not stored on this device leaves out
  /// everything.
  ///
  /// The call returns when each image is there, has failed, or was left out; those of siblings in the
  /// format's family may come later, and a prefetch of their format waits for them. Cancelling the calling
  /// task cancels the remaining loads, which count as nothing. With a format that is not one of
  /// ``formats``, and after ``close()``, all fail. While a locked device closes the table all fail too, with
  /// ``ImageCacheError/protectedDataUnavailable(format:)`` as the reason, and nothing is loaded.
  ///
  /// Cost: two lookups for each image that is there, before the first load begins.
  ///
  /// - Parameters:
  ///   - entities: Their images are loaded, the most urgent first.
  ///   - format: One of ``formats``.
  ///   - depth: Into the table, or into memory as well.
  ///   - options: The conditions of each request. A ``LoadOptions/priority`` takes the place of the low one, for all of
  ///     them. With another ``LoadOptions/cachePolicy-swift.property`` than ``LoadOptions/CachePolicy/useCache`` an
  ///     image that is in the table is asked for too, and an entity that is given twice perhaps twice.
  ///     ``LoadOptions/storage-swift.property`` means nothing here.
  /// - Returns: How many images are in the table, failed, and found no room.
  @discardableResult
  public nonisolated func prefetch<Entity: ImageEntity>(
    _ entities: some Sequence<Entity>, format: ImageFormat, depth: PrefetchDepth = .disk,
    options: LoadOptions = LoadOptions()
  ) async -> PrefetchProgress {
    await prefetch(
      entities.map { $0 as any ImageEntity }, format: format, depth: depth, options: options)
  }

  /// The same for entities of several types.
  @discardableResult
  public nonisolated func prefetch(
    _ entities: [any ImageEntity], format: ImageFormat, depth: PrefetchDepth = .disk,
    options: LoadOptions = LoadOptions()
  ) async -> PrefetchProgress {
    let fitting = tables[format].map { self.fitting(entities, options, in: $0) } ?? entities
    var progress = PrefetchProgress()
    progress.totalCount = entities.count
    progress.leftOutCount = entities.count - fitting.count
    let round = ImageRound(in: registry)
    return await withTaskGroup(of: PrefetchStep.self) { group in
      // Inside of the group, so that its tasks are cancelled one by one only when none of them waits any more: a load
      // that waits would begin in the place of one that is given up before it.
      await withTaskCancellationHandler {
        var remaining = fitting.makeIterator()
        // A few at a time: the limiters bound the loads under way, this bounds those that wait for them.
        var (idleCount, isStarting) = (8, false)
        while true {
          // One after the other, or the pool's threads would decide which load comes to its limiter first.
          if !isStarting, idleCount > 0, !Task.isCancelled, let entity = remaining.next() {
            (idleCount, isStarting) = (idleCount - 1, true)
            start(entity, format, depth, options, round, in: &group)
          }
          switch await group.next() {
          case .began: isStarting = false
          case .ended(let outcome):
            idleCount += 1
            progress.count(outcome)
          case nil: return progress
          }
        }
      } onCancel: {
        round.end()
      }
    }
  }

  /// Adds a task that loads one image, and another that ends when the load goes ahead.
  private nonisolated func start(
    _ entity: some ImageEntity, _ format: ImageFormat, _ depth: PrefetchDepth,
    _ options: LoadOptions, _ round: ImageRound, in group: inout TaskGroup<PrefetchStep>
  ) {
    let (beginning, begins) = AsyncStream<Never>.makeStream()
    group.addTask(priority: .low) {
      defer { begins.finish() }
      return .ended(await self.bring(entity, format, depth, options, round) { begins.finish() })
    }
    group.addTask(priority: .low) {
      for await _ in beginning {}
      return .began
    }
  }

  /// The first entities, as many as have room in the table beside the leased images of others.
  ///
  /// A look at each image that is there, the most urgent one last, makes it recently used: the table
  /// evicts all others before.
  private nonisolated func fitting(
    _ entities: [any ImageEntity], _ options: LoadOptions, in table: ImageTable
  ) -> [any ImageEntity] {
    let slotCount = table.store?.statistics.slotCount ?? 0
    var ids: Set<ImageID> = []
    let requests = Self.first(slotCount, of: entities).filter { ids.insert($0.imageID).inserted }
      .map { ImageRequest(entity: $0, table: table, tables: tables, options: options) }
    // An image that is loaded anew takes a slot beside the one that is shown.
    let room =
      slotCount - leasedCount(beside: options.cachePolicy == .reload ? [] : requests, in: table)
    for request in requests.reversed() { _ = look(for: request) }
    return Self.first(room, of: entities)
  }

  /// Leased slots, but for those of some images.
  ///
  /// This is a function of its own so that its leases end before the looks in order begin: leases that
  /// end together may get the same time of use.
  private nonisolated func leasedCount(
    beside requests: [ImageRequest], in table: ImageTable
  ) -> Int {
    let found = requests.compactMap(look)
    // Counted while these leases last, since somebody else may have a lease on the same slot.
    return withExtendedLifetime(found) {
      max((table.store?.statistics.leasedCount ?? 0) - found.count { !$0.isPrivate }, 0)
    }
  }

  /// A look that does not count as a hit, since the request for the image will.
  private nonisolated func look(for request: ImageRequest) -> CachedImage? {
    guard let image = request.storedImage() else { return nil }
    recorder.hitLate()
    return image
  }

  /// The entities with the first `count` different ids.
  private static func first(
    _ count: Int, of entities: [any ImageEntity]
  ) -> [any ImageEntity] {
    var ids: Set<ImageID> = []
    return entities.filter { entity in
      let id = entity.imageID
      if ids.count < count { ids.insert(id) }
      return ids.contains(id)
    }
  }

  /// Loads one image at low priority, and touches its pages if that is wanted.
  ///
  /// - Parameters:
  ///   - round: Gives the load up when it ends.
  ///   - begins: A load that goes ahead calls it; the caller begins the next one then.
  nonisolated func bring(
    _ entity: some ImageEntity, _ format: ImageFormat, _ depth: PrefetchDepth,
    _ options: LoadOptions, _ round: ImageRound, _ begins: @escaping @Sendable () -> Void
  ) async -> PrefetchOutcome {
    var options = options
    options.storage = .all
    do throws(ImageCacheError) {
      let wantsFrames = format.hasAnimations && !options.isPlaceholder
      if let image = cachedImage(for: entity, format: format, options),
        !wantsFrames || cachedAnimation(for: entity, format: format) != nil
          || image.motion.frameCount == 1
      {
        if depth == .memory { await image.prepareForDisplay() }
        return .loaded
      }
      let request = try missedRequest(
        for: entity, format: format, options: options,
        animation: wantsFrames ? AnimationAnswer() : nil, isForTable: true,
        whenLoading: begins)
      // Under another policy the table may have the former image still.
      let reporter =
        request.policy == .useCache
        ? nil : RequestReporter(of: request, since: clock.now, recorder)
      defer { round.remove(request.subscriber) }
      let image = try await registry.image(
        for: request, priority: .low, reporter: reporter, in: round
      ).get()
      if depth == .memory { await image.prepareForDisplay() }
      // The lease keeps other images out of its slot until the table was asked.
      return withExtendedLifetime(image) { reporter?.report?.isStored ?? request.isStored }
        ? .loaded : .leftOut
    } catch {
      // The event stream tells why; here a failure only counts.
      if case .cancelled = error { return .cancelled }
      return Task.isCancelled ? .cancelled : .failed
    }
  }
}

/// An event that a prefetch waits for.
private enum PrefetchStep {
  /// The load that was started last has reached its source, or is over.
  case began
  case ended(PrefetchOutcome)
}

enum PrefetchOutcome {
  case loaded, failed, leftOut, cancelled
}

extension ImageCache.PrefetchProgress {
  fileprivate mutating func count(_ outcome: PrefetchOutcome) {
    switch outcome {
    case .loaded: loadedCount += 1
    case .failed: failedCount += 1
    case .leftOut: leftOutCount += 1
    case .cancelled: break
    }
  }
}
