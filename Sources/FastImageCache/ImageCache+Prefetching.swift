import TableStore

extension ImageCache {
  /// How far ahead of the eye pictures are brought.
  public enum PrefetchDepth: Sendable {
    /// Into the table.
    case disk
    /// Into the table, and its pages into memory, so that the first look waits for no disk.
    case resident
  }

  /// How far a prefetch has come.
  public struct PrefetchProgress: Hashable, Sendable {
    /// Pictures that are in the table.
    public internal(set) var loadedCount = 0
    /// Pictures that could not be had; ``ImageCache/events(bufferSize:)`` tells why.
    public internal(set) var failedCount = 0
    /// Pictures that the table has no room for. Those beyond its capacity are not asked for at all.
    public internal(set) var leftOutCount = 0
    /// Pictures asked for.
    public internal(set) var totalCount = 0

    /// Whether nothing is left to do.
    public var isFinished: Bool { loadedCount + failedCount + leftOutCount == totalCount }
  }

  /// Brings the pictures of many entities, at low priority, so that requests for what is on screen
  /// go first.
  ///
  /// Sources are asked in the order of `entities`, a few at the same time. A prefetch brings no more
  /// than the table holds beside the pictures that are on screen: the first entities get their
  /// pictures, the rest is left out. A picture that is in the table already counts as loaded and does
  /// not make room for a later one. A format that is not stored on this device leaves out everything.
  ///
  /// Returns when all are there, have failed, or were left out; cancelling the calling task cancels
  /// the rest, which is not counted. With a format that is not one of ``formats`` all fail.
  ///
  /// Cost: two lookups for each picture that is there, before the first load begins.
  ///
  /// - Parameters:
  ///   - entities: Whose pictures, the most urgent first.
  ///   - format: One of ``formats``.
  ///   - depth: Into the table, or into memory as well.
  /// - Returns: How many are in the table, and how many could not be had or found no room.
  @discardableResult
  public nonisolated func prefetch<Entity: ImageEntity>(
    _ entities: some Sequence<Entity>, format: ImageFormat, depth: PrefetchDepth = .disk
  ) async -> PrefetchProgress {
    await prefetch(Array(entities), format, depth) { _ in }
  }

  /// The same as a stream: iterating it does the work, leaving it cancels what is left.
  ///
  /// The last element has ``PrefetchProgress/isFinished``. Cancelling the reading task ends the stream
  /// without another element.
  public nonisolated func prefetchProgress<Entity: ImageEntity>(
    _ entities: some Sequence<Entity>, format: ImageFormat, depth: PrefetchDepth = .disk
  ) -> AsyncStream<PrefetchProgress> {
    let entities = Array(entities)
    let queue = StreamQueue<PrefetchProgress>(size: 1, .losesOldest)
    // The stream owns the task.
    let task = Task(name: "image prefetch", priority: .low) {
      _ = await self.prefetch(entities, format, depth) { queue.append($0) }
      queue.finish()
    }
    return queue.makeStream { task.cancel() }
  }

  private nonisolated func prefetch(
    _ entities: [some ImageEntity], _ format: ImageFormat, _ depth: PrefetchDepth,
    _ report: @Sendable (PrefetchProgress) -> Void
  ) async -> PrefetchProgress {
    let fitting = tables[format].map { self.fitting(entities, in: $0) } ?? entities
    var progress = PrefetchProgress()
    progress.totalCount = entities.count
    progress.leftOutCount = entities.count - fitting.count
    report(progress)
    return await withTaskGroup(of: PrefetchStep.self) { group in
      var remaining = fitting.makeIterator()
      // A few at a time: the gates bound what is loaded, this bounds what waits before them.
      var (idleCount, isStarting) = (8, false)
      while true {
        // One after the other, or the pool's threads would decide which is the first at its gate.
        if !isStarting, idleCount > 0, !Task.isCancelled, let entity = remaining.next() {
          (idleCount, isStarting) = (idleCount - 1, true)
          start(entity, format, depth, in: &group)
        }
        switch await group.next() {
        case .began: isStarting = false
        case .ended(let outcome):
          idleCount += 1
          progress.count(outcome)
          report(progress)
        case nil: return progress
        }
      }
    }
  }

  /// Adds the load, and whoever notices that it goes ahead.
  private nonisolated func start(
    _ entity: some ImageEntity, _ format: ImageFormat, _ depth: PrefetchDepth,
    in group: inout TaskGroup<PrefetchStep>
  ) {
    let (beginning, begins) = AsyncStream<Never>.makeStream()
    group.addTask(priority: .low) {
      defer { begins.finish() }
      return .ended(await self.bring(entity, format, depth) { begins.finish() })
    }
    group.addTask(priority: .low) {
      for await _ in beginning {}
      return .began
    }
  }

  /// The first entities, as many as have room in the table beside the pictures that others hold.
  ///
  /// Their pictures that are there are used by this, the most urgent one last, so that the table
  /// evicts any other before them.
  private nonisolated func fitting<Entity: ImageEntity>(
    _ entities: [Entity], in table: ImageTable
  ) -> [Entity] {
    let slotCount = table.figures?.slotCount ?? 0
    var ids: Set<ImageID> = []
    let keys = Self.first(slotCount, of: entities).filter { ids.insert($0.imageID).inserted }
      .map { ImageRequest(entity: $0, table: table, tables: tables).key }
    let room = slotCount - leasedCount(beside: keys, in: table)
    for key in keys.reversed() { _ = look(for: key, in: table) }
    return Self.first(room, of: entities)
  }

  /// Slots that are held, but for those of some pictures.
  ///
  /// A function of its own, at whose end the leases are gone: leases that end together may get the
  /// same time of use.
  private nonisolated func leasedCount(beside keys: [ImageKey], in table: ImageTable) -> Int {
    let found = keys.compactMap { look(for: $0, in: table) }
    // Counted while these are held as well, since somebody else may hold one of them.
    return withExtendedLifetime(found) {
      max((table.figures?.leasedCount ?? 0) - found.count { !$0.isPrivate }, 0)
    }
  }

  /// A look that does not count: the request that comes for the picture does.
  private nonisolated func look(for key: ImageKey, in table: ImageTable) -> CachedImage? {
    guard let image = table.cachedImage(for: key) else { return nil }
    recorder.hitLate()
    return image
  }

  /// Those whose ids are the first `count` different ones.
  private static func first<Entity: ImageEntity>(_ count: Int, of entities: [Entity]) -> [Entity] {
    var ids: Set<ImageID> = []
    return entities.filter { entity in
      let id = entity.imageID
      if ids.count < count { ids.insert(id) }
      return ids.contains(id)
    }
  }

  /// - Parameter begins: Called when a load goes ahead; the caller begins the next one then.
  private nonisolated func bring(
    _ entity: some ImageEntity, _ format: ImageFormat, _ depth: PrefetchDepth,
    _ begins: @escaping @Sendable () -> Void
  ) async -> PrefetchOutcome {
    do throws(ImageCacheError) {
      if let image = cachedImage(for: entity, format: format) {
        if depth == .resident { await image.prepareForDisplay() }
        return .loaded
      }
      let request = try missedRequest(for: entity, format: format, whenLoading: begins)
      let image = try await registry.image(for: request, priority: .low).get()
      if depth == .resident { await image.prepareForDisplay() }
      // Held meanwhile, so that no other picture takes its slot.
      return withExtendedLifetime(image) { request.table.contains(request.key) }
        ? .loaded : .leftOut
    } catch {
      // Why a picture failed stands in the event stream; here it only counts.
      return Task.isCancelled ? .cancelled : .failed
    }
  }
}

/// What a prefetch waits for.
private enum PrefetchStep {
  /// The last load that was started has reached its source, or is over.
  case began
  case ended(PrefetchOutcome)
}

private enum PrefetchOutcome {
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
