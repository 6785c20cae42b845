import TableStore

extension ImageCache {
  /// The steps of one picture's load, which starts unless it is under way.
  ///
  /// The stream waits for the load, as a call of ``image(for:format:)`` does. When nobody iterates it
  /// any more, that wait ends, and the load too if no other waiter is left. A slow reader misses steps
  /// but never the last one, which is `finished` or `failed`. Cancelling the reading task ends the
  /// stream at once, without another step.
  ///
  /// ```swift
  /// for await step in cache.progress(for: photo, format: .row) {
  ///   if case .receiving(let count, let total?) = step { bar.value = count * 100 / total }
  ///   if case .finished(let image) = step, !Task.isCancelled { show(image) }
  /// }
  /// ```
  ///
  /// The question in the last line is for a reader on an actor: the stream looks for a cancellation
  /// before the step goes there.
  ///
  /// - Parameters:
  ///   - entity: Its picture is loaded.
  ///   - format: One of ``formats``.
  public nonisolated func progress(
    for entity: some ImageEntity, format: ImageFormat
  ) -> AsyncStream<ImageProgress> {
    do throws(ImageCacheError) {
      if let image = cachedImage(for: entity, format: format) {
        return StreamQueue.stream(of: .finished(image))
      }
      let request = try missedRequest(for: entity, format: format)
      return registry.progress(of: request, priority: .current)
    } catch {
      return StreamQueue.stream(of: .failed(error))
    }
  }

  /// The events of this cache from now on.
  ///
  /// Nothing waits for a listener. A listener that falls behind by more than `bufferSize` events loses
  /// the newest, and finds ``CacheEvent/skipped(_:)`` with their number where they are missing. When
  /// the cache is closed, the stream ends after its unread events; when the reading task is cancelled,
  /// it ends at once.
  ///
  /// - Parameter bufferSize: How many unread events are kept, at least one.
  public nonisolated func events(bufferSize: Int = 256) -> AsyncStream<CacheEvent> {
    recorder.hub.makeStream(bufferSize: max(bufferSize, 1))
  }

  /// Counts of what the cache has done since it was opened, and of what it holds now.
  ///
  /// Cost: a look at every slot.
  public func statistics() async -> CacheStatistics {
    var statistics = recorder.counts
    (statistics.flights, statistics.waiters) = registry.load
    for table in tables.all {
      // Once for each table, since it looks at every slot.
      let figures = table.figures
      statistics.tables.append(CacheStatistics.Table(format: table.format.name, figures))
      // Tables count their own hits, without a counter that all threads would write.
      statistics.hits += figures?.hitCount ?? 0
    }
    return statistics
  }
}
