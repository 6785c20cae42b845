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
    /// Pictures that are there.
    public internal(set) var loadedCount = 0
    /// Pictures that could not be had.
    public internal(set) var failedCount = 0
    /// Pictures asked for.
    public internal(set) var totalCount = 0

    /// Whether nothing is left to do.
    public var isFinished: Bool { loadedCount + failedCount == totalCount }
  }

  /// Brings the pictures of many entities, at low priority, so that requests for what is on screen
  /// go first.
  ///
  /// Returns when all are there or have failed; cancelling the calling task cancels the rest.
  ///
  /// - Parameters:
  ///   - entities: Whose pictures, the most urgent first.
  ///   - format: One of ``formats``.
  ///   - depth: Into the table, or into memory as well.
  /// - Returns: How many were loaded, and how many could not be.
  @discardableResult
  public nonisolated func prefetch<Entity: ImageEntity>(
    _ entities: some Sequence<Entity>, format: ImageFormat, depth: PrefetchDepth = .disk
  ) async -> PrefetchProgress {
    await prefetch(Array(entities), format, depth) { _ in }
  }

  /// The same as a stream: iterating it does the work, leaving it cancels what is left.
  ///
  /// The last element has ``PrefetchProgress/isFinished``, unless the cache was closed. Cancelling the
  /// reading task ends the stream without another element.
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
    var progress = PrefetchProgress()
    progress.totalCount = entities.count
    report(progress)
    // A few at a time: the gates bound what is loaded, this bounds what waits before them.
    let width = 8
    return await withTaskGroup(of: Bool.self) { group in
      var remaining = entities.makeIterator()
      for _ in 0..<width {
        guard let entity = remaining.next() else { break }
        group.addTask(priority: .low) { await self.bring(entity, format, depth) }
      }
      while let isLoaded = await group.next() {
        if isLoaded { progress.loadedCount += 1 } else { progress.failedCount += 1 }
        report(progress)
        if !Task.isCancelled, let entity = remaining.next() {
          group.addTask(priority: .low) { await self.bring(entity, format, depth) }
        }
      }
      return progress
    }
  }

  private nonisolated func bring(
    _ entity: some ImageEntity, _ format: ImageFormat, _ depth: PrefetchDepth
  ) async -> Bool {
    // Why a picture failed stands in the event stream; here it only counts.
    guard let image = try? await image(for: entity, format: format) else { return false }
    if depth == .resident { await image.prepareForDisplay() }
    return true
  }
}
