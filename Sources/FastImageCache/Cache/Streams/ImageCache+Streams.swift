import TableStore

extension ImageCache {
  /// The steps of one image's load, which starts unless it is under way.
  ///
  /// The stream waits for the load, as a call of ``image(for:format:)`` does. When nobody iterates it
  /// any more, that wait ends, and the load too if no other subscriber is left. A slow reader gets the newest
  /// step, preview and ``ImageProgress/arrived(_:)``, and always the last step, which is `finished` or `failed`.
  /// Cancelling the reading task ends the stream at once, without another step.
  ///
  /// ```swift
  /// for await step in cache.progress(for: photo, format: .row) {
  ///   if case .receiving(let count, of: let total?) = step { print("\(count) of \(total) bytes") }
  ///   if case .finished(let image) = step, !Task.isCancelled { show(image) }
  /// }
  /// ```
  ///
  /// The question in the last line is for a reader on an actor: the stream looks for a cancellation
  /// before the step goes there.
  ///
  /// Where ``LoadOptions/fallback`` allow an image to stand in, ``ImageProgress/preview(_:_:)`` with the
  /// closest one is the first step, before anything is awaited; a reader that comes late may miss it. With
  /// another policy than ``LoadOptions/CachePolicy/useCache`` that may be the wanted image itself, which is asked
  /// about meanwhile.
  ///
  /// - Parameters:
  ///   - entity: Its image is loaded.
  ///   - format: One of ``formats``.
  ///   - options: The conditions, but for ``LoadOptions/timeout``: whoever has waited long enough stops
  ///     reading. `nil` for those of an ordinary request.
  public nonisolated func progress(
    for entity: some ImageEntity, format: ImageFormat, options: LoadOptions? = nil
  ) -> AsyncStream<ImageProgress> {
    do throws(ImageCacheError) {
      if let image = cachedImage(for: entity, format: format, options) {
        return StreamQueue.stream(of: .finished(image))
      }
      let request = try missedRequest(for: entity, format: format, options: options)
      let policy = options?.fallback ?? .none
      let closest =
        policy == .none ? nil : bestCachedImage(for: entity, format: format, fallback: policy)
      return registry.progress(
        of: request, priority: .current,
        after: closest.map { .preview($0.image, $0.preview) })
    } catch {
      return StreamQueue.stream(of: .failed(error))
    }
  }

  /// The images of many entities, each as soon as it is there.
  ///
  /// Images in the table come at once, without suspending the reader, on its actor. The others are
  /// loaded at the priority of the reading task. They are asked for in the order of `entities`, a few
  /// at the same time and those in no order among themselves, and each shares its load with other requests for
  /// the same URL. Every entity gets one element, one that is given twice gets two, and an error ends nothing
  /// but its own load.
  ///
  /// ```swift
  /// for await arrival in cache.images(for: photos, format: .row) {
  ///   print("\(arrival.completedCount) of \(arrival.totalCount)")
  ///   switch arrival.result {
  ///   case .success(let image): show(image)
  ///   case .failure(let error): print(arrival.entity.id, error)
  ///   }
  /// }
  /// ```
  ///
  /// The loads belong to the loop. Leaving it ends them, and so does cancelling its task: at once while
  /// the loop waits for an image, and otherwise when it asks for the next one, which it does not get.
  /// A load that another request waits for goes on.
  ///
  /// Nothing is loaded far ahead of a slow reader. Images under way and images that the loop has not
  /// read are together no more than the wider limiter of ``Configuration/resources`` lets in, and no more than
  /// half of the table holds; each one that is read begins the next load. A reader that keeps more images
  /// than the table has room for gets the rest in private memory: to fill a table, call
  /// ``prefetch(_:format:depth:options:)-(Sequence,_,_,_)``.
  ///
  /// The bytes of one image under way are in ``progress(for:format:options:)``, which joins its load.
  ///
  /// Cost: a lookup for each entity, before the loop first waits; on the loop's actor.
  ///
  /// - Parameters:
  ///   - entities: Their images are looked up, and loaded if they are missing, the most urgent first.
  ///   - format: One of ``formats``; with any other all elements are
  ///     ``ImageCacheError/unknownFormat(_:)``.
  ///   - options: The conditions of each request, but for ``LoadOptions/timeout``: whoever has waited long
  ///     enough stops reading.
  public nonisolated func images<Entity: ImageEntity>(
    for entities: some Sequence<Entity>, format: ImageFormat, options: LoadOptions = LoadOptions()
  ) -> ImageResults<Entity> {
    ImageResults(cache: self, format: format, options: options, entities: Array(entities)) { $0 }
  }

  /// The same for entities of several types.
  public nonisolated func images(
    for entities: some Sequence<any ImageEntity>, format: ImageFormat,
    options: LoadOptions = LoadOptions()
  ) -> ImageResults<any ImageEntity> {
    images(for: Array(entities), format: format, options: options)
  }

  /// The same for an array, so that a literal may have entities of several types.
  public nonisolated func images(
    for entities: [any ImageEntity], format: ImageFormat, options: LoadOptions = LoadOptions()
  ) -> ImageResults<any ImageEntity> {
    ImageResults(cache: self, format: format, options: options, entities: entities) { $0 }
  }

  /// The events of this cache from now on.
  ///
  /// Nothing waits for a listener. A listener that falls behind by more than `bufferSize` events loses
  /// the newest, and finds ``CacheEvent/eventsDropped(_:)`` with their number where they are missing. When
  /// the cache is closed, the stream ends after its unread events; when the reading task is cancelled,
  /// it ends at once.
  ///
  /// - Parameter bufferSize: How many unread events are kept, at least one.
  public nonisolated func events(bufferSize: Int = 256) -> AsyncStream<CacheEvent> {
    recorder.makeStream(bufferSize: max(bufferSize, 1))
  }

  /// The events of every cache of this process from now on, also of caches that are opened later.
  ///
  /// ```swift
  /// let log = Task {
  ///   for await element in ImageCache.allEvents() {
  ///     if case .failed(let entity, let format, let error) = element.event {
  ///       print(element.namespace, entity, format, error)
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// For whatever reports problems, measures or prints, without knowing the caches. The stream does not
  /// end with a cache, only with its reader. As with ``events(bufferSize:)`` nothing waits for the
  /// listener, and hits of all caches cost more only while there is one of either kind.
  ///
  /// - Parameter bufferSize: How many unread events are kept, at least one; the newest are lost beyond.
  public static func allEvents(bufferSize: Int = 1024) -> AsyncStream<ProcessEvent> {
    EventListeners.shared.makeStream(of: nil, bufferSize: max(bufferSize, 1)) { $0 }
  }

  /// Counts of what the cache has done since it was opened, and of what it holds now.
  ///
  /// Cost: a look at every slot.
  public func statistics() async -> CacheStatistics {
    var statistics = recorder.counts
    (statistics.activeLoads, statistics.pendingRequests) = registry.counts
    for table in tables.all {
      // Once for each table, since it looks at every slot.
      let figures = table.store?.statistics
      statistics.tables.append(CacheStatistics.Table(format: table.format.name, figures))
      // Tables count their own hits, without a counter that all threads would write.
      statistics.hits += figures?.hitCount ?? 0
    }
    return statistics
  }
}
