import Foundation
import Locking
import Pixels

/// Counts what happens in a cache and tells whoever listens.
///
/// Invariants:
/// 1. Numbers only grow.
/// 2. Nothing here is touched by a hit, unless somebody listens; everything else happens where
///    milliseconds are spent anyway.
final class CacheRecorder: Sendable {
  struct Counts: Sendable {
    var misses = 0
    /// Misses whose picture was there when they were looked at again; tables count them as hits.
    var lateHits = 0
    var joined = 0
    var fetches = 0
    var fetchedByteCount = 0
    var fetchSeconds = 0.0
    var decodes = 0
    var decodeSeconds = 0.0
    var drawings = 0
    var drawSeconds = 0.0
    var stores = 0
    var notStored = 0
    var failures = 0
    var cancellations = 0
  }

  let hub: EventHub
  private let state = Lock(Counts())

  init(hub: EventHub) { self.hub = hub }

  var counts: Counts { state.withLock { $0 } }

  func missed(_ key: ImageKey) {
    state.withLock { $0.misses += 1 }
    hub.send(.missed(entity: key.entity, format: key.format))
  }

  func hitLate() { state.withLock { $0.lateHits += 1 } }

  func joined(_ request: ImageRequest) {
    state.withLock { $0.joined += 1 }
    hub.send(.joined(entity: request.key.entity, format: request.key.format))
  }

  func fetched(_ url: URL?, byteCount: Int, in duration: Duration) {
    state.withLock { counts in
      counts.fetches += 1
      counts.fetchedByteCount += byteCount
      counts.fetchSeconds += duration.seconds
    }
    hub.send(.fetched(url, byteCount: byteCount, seconds: duration.seconds))
  }

  func decoded(_ url: URL?, size: PixelSize, in duration: Duration) {
    state.withLock { counts in
      counts.decodes += 1
      counts.decodeSeconds += duration.seconds
    }
    hub.send(.decoded(url, size: size, seconds: duration.seconds))
  }

  func drew(in duration: Duration) {
    state.withLock { counts in
      counts.drawings += 1
      counts.drawSeconds += duration.seconds
    }
  }

  func stored(_ key: ImageKey) {
    state.withLock { $0.stores += 1 }
    hub.send(.stored(entity: key.entity, format: key.format))
  }

  func notStored(_ key: ImageKey, reason: @autoclosure () -> String) {
    state.withLock { $0.notStored += 1 }
    hub.send(.notStored(entity: key.entity, format: key.format, reason: reason()))
  }

  func damaged(_ entity: ImageID?, format: String) {
    hub.send(.damaged(entity: entity, format: format))
  }

  /// A picture that somebody waited for could not be had; a cancellation is no failure.
  func failed(_ key: ImageKey, _ error: ImageCacheError) {
    if case .cancelled = error { return }
    state.withLock { $0.failures += 1 }
    hub.send(.failed(entity: key.entity, format: key.format, error))
  }

  func cancelled(_ request: ImageRequest) {
    state.withLock { $0.cancellations += 1 }
    hub.send(.cancelled(entity: request.key.entity, format: request.key.format))
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
