import Foundation
import ImageSources
import LoadQueue
import Locking
import Pixels
import Synchronization
import TableStore

/// Counts what happens in a cache and sends its events to the listeners.
///
/// Invariant: a hit touches nothing here, unless somebody listens. Every other count is changed where
/// milliseconds are spent anyway, and by a worker before its job finishes rather than while it computes.
final class CacheRecorder: Sendable {
  private let namespace: String
  private let listeners: EventListeners
  private let isFinished = Atomic(false)
  private let state = Lock(CacheStatistics())

  /// - Parameter namespace: Empty for a cache in memory.
  init(of namespace: String = "", among listeners: EventListeners = .shared) {
    (self.namespace, self.listeners) = (namespace, listeners)
    EventLog.begin
  }

  deinit { listeners.finish(self) }

  /// Whether there are listeners, of whichever cache; costs one relaxed load.
  var hasListeners: Bool { !listeners.isEmpty }

  /// Sends an event to every listener, without waiting for any.
  func send(_ event: @autoclosure () -> CacheEvent) {
    guard hasListeners, !isFinished.load(ordering: .relaxed) else { return }
    let event = ProcessEvent(namespace: namespace, event: event())
    // A worker sends events while it computes.
    Worker.runCallback { self.listeners.send(event, of: self) }
  }

  /// A stream of all later events of this cache, which keeps the oldest `bufferSize` unread ones.
  func makeStream(bufferSize: Int) -> AsyncStream<CacheEvent> {
    let stream = listeners.makeStream(of: self, bufferSize: bufferSize) { $0.event }
    // A cache that is closed meanwhile may have found no listener yet.
    if isFinished.load(ordering: .acquiring) { listeners.finish(self) }
    return stream
  }

  /// Ends all streams of this cache, after the events that were sent before; later streams end at once.
  func finish() {
    isFinished.store(true, ordering: .releasing)
    listeners.finish(self)
  }

  /// The counts so far, without those that the registry and the tables have. `hits` is negative: a
  /// correction of the tables' counts.
  var counts: CacheStatistics { state.withLock { $0 } }

  func missed(_ key: ImageKey) {
    state.withLock { $0.misses += 1 }
    send(.missed(entity: key.entity, format: key.format))
  }

  /// The image of a miss was there when the cache looked again; its table has counted a hit, which
  /// is none.
  func hitLate() { state.withLock { $0.hits -= 1 } }

  /// So many frames were found behind a first one, which counts as the hit.
  func foundFrames(_ count: Int) { state.withLock { $0.hits -= count } }

  func coalesced(_ key: ImageKey) {
    state.withLock { $0.coalescedRequests += 1 }
    send(.coalesced(entity: key.entity, format: key.format))
  }

  /// A source has brought so many bytes, whether or not it delivers.
  func received(byteCount: Int) { state.withLock { $0.fetchedByteCount += byteCount } }

  func fetched(_ url: URL?, byteCount: Int, in duration: Duration) {
    state.withLock { counts in
      counts.fetches += 1
      counts.fetchDuration += duration
    }
    send(.fetched(url, byteCount: byteCount, duration: duration))
  }

  func decoded(_ url: URL?, size: PixelSize, in duration: Duration) {
    Worker.beforeFinish {
      self.state.withLock { counts in
        counts.decodes += 1
        counts.decodeDuration += duration
      }
    }
    send(.decoded(url, size: size, duration: duration))
  }

  /// Counts a frame of an animation as a decode; no event tells of it.
  func readFrame(in duration: Duration) {
    Worker.beforeFinish {
      self.state.withLock { counts in
        counts.decodes += 1
        counts.decodeDuration += duration
      }
    }
  }

  func drew(in duration: Duration) {
    Worker.beforeFinish {
      self.state.withLock { counts in
        counts.drawings += 1
        counts.drawDuration += duration
      }
    }
  }

  func drewDamaged(_ key: ImageKey) {
    send(.drewDamaged(entity: key.entity, format: key.format))
  }

  func stored(_ key: ImageKey) {
    state.withLock { $0.stores += 1 }
    send(.stored(entity: key.entity, format: key.format))
  }

  func storeFailed(_ key: ImageKey, reason: @autoclosure () -> String) {
    state.withLock { $0.failedStores += 1 }
    send(.storeFailed(entity: key.entity, format: key.format, reason: reason()))
  }

  func refused(_ key: ImageKey) {
    storeFailed(key, reason: "the hook `willStore` lets it be delivered only")
  }

  func noticed(_ notice: TableNotice, format: String) {
    switch notice {
    case .damage(let entity):
      // A frame's id is nobody's.
      let own = entity?.isFrame == true ? nil : entity
      send(.damaged(entity: own.map { ImageID($0) }, format: format))
    case .storage(let storage):
      send(.storageChanged(format: format, StorageState(storage)))
    }
  }

  /// A request got an error instead of its image; a cancellation is no failure.
  func failed(_ key: ImageKey, _ error: ImageCacheError) {
    if case .cancelled = error { return }
    state.withLock { $0.failures += 1 }
    send(.failed(entity: key.entity, format: key.format, error))
  }

  func cancelled(_ key: ImageKey) {
    state.withLock { $0.cancellations += 1 }
    send(.cancelled(entity: key.entity, format: key.format))
  }
}
