import Foundation
import LoadQueue
import Locking
import TableStore

extension ImageCache {
  /// Removes the images whose ``ImageFormat/lifetime`` is over, in tables that this process owns: other processes'
  /// tables are those processes' to sweep.
  ///
  /// Cost: a listing of each table with a lifetime, on a thread that waits for the disk.
  fileprivate func removeExpired() async {
    for table in tables.all {
      guard let lifetime = table.format.lifetime, life == .active,
        namespace.isEmpty || table.figures?.isOwner == true
      else { continue }
      let now = now()
      // The next sweep tries again after a failure.
      switch table.format.lifetimeStart {
      case .store:
        let limit = now - lifetime / .seconds(1)
        _ = try? await removeImages(in: table.format) { $0.dateStored <= limit }
      case .lastUse:
        let noted = try? await table.noteTime(now, lifetime: lifetime)
        guard let stamp = noted ?? nil else { continue }
        _ = try? await removeImages(in: table.format) { $0.info.recency <= stamp }
      }
    }
  }
}

/// Removes a cache's expired images at once and then each hour, in a task that ends with the cache.
final class Expiry: Sendable {
  private static let pause = Duration.seconds(3600)

  private let task = Lock<Task<Void, Never>?>(nil)

  /// Begins, if a format has a lifetime.
  func begin(in cache: ImageCache) {
    guard cache.formats.contains(where: { $0.lifetime != nil }) else { return }
    let sweeping = Task(name: "lifetimes", priority: .background) {
      [weak cache, clock = cache.clock] in
      while await cache?.removeExpired() != nil {
        let end = clock.now.advanced(by: Self.pause)
        // It fails only if the task is cancelled.
        guard (try? await clock.sleep(until: end, tolerance: nil)) != nil else { return }
      }
    }
    task.withLock { $0 = sweeping }
  }

  func end() { task.withLock { $0.take() }?.cancel() }

  deinit { end() }
}
