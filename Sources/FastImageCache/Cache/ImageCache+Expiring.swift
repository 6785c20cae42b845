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
      guard let lifetime = table.format.lifetime, isSwept(table) else { continue }
      let now = now()
      let limit = now - lifetime / .seconds(1)
      // The next sweep tries again after a failure.
      switch table.format.lifetimeStart {
      case .store:
        _ = try? await removeImages(in: table.format) { $0.dateStored <= limit }
      case .lastUse:
        let noted = try? await table.noteTime(now, lifetime: lifetime)
        guard let stamp = noted ?? nil else { continue }
        // The second condition bounds what a clock that stood too early for a while does.
        _ = try? await removeImages(in: table.format) {
          $0.info.recency <= stamp && $0.dateStored <= limit
        }
      }
    }
  }

  /// Writes the order of use of the tables whose lifetimes count from it: a program that is killed loses no more
  /// than a few minutes.
  fileprivate func writeUses() async {
    for table in tables.all where table.format.countsUses && isSwept(table) {
      _ = try? await table.write { table throws(TableError) in try table.writeUses() }
    }
  }

  private func isSwept(_ table: ImageTable) -> Bool {
    life == .active && (namespace.isEmpty || table.store?.statistics.isOwner == true)
  }
}

extension ImageFormat {
  fileprivate var countsUses: Bool { lifetime != nil && lifetimeStart == .lastUse }
}

/// Removes a cache's expired images at once and then each hour, in a task that ends with the cache. Between that it
/// writes uses that count.
final class Expiry: Sendable {
  private static let pause = Duration.seconds(3600)
  private static let pauseOfUses = Duration.seconds(300)

  private let task = Lock<Task<Void, Never>?>(nil)

  /// Begins, if a format has a lifetime.
  func begin(in cache: ImageCache) {
    guard cache.formats.contains(where: { $0.lifetime != nil }) else { return }
    let pause = cache.formats.contains(where: \.countsUses) ? Self.pauseOfUses : Self.pause
    let sweeping = Task(name: "lifetimes", priority: .background) {
      [weak cache, clock = cache.clock] in
      var nextSweep = clock.now
      while cache != nil {
        if clock.now >= nextSweep {
          nextSweep = clock.now.advanced(by: Self.pause)
          await cache?.removeExpired()
        } else {
          await cache?.writeUses()
        }
        let end = clock.now.advanced(by: pause)
        // It fails only if the task is cancelled.
        guard (try? await clock.sleep(until: end, tolerance: nil)) != nil else { return }
      }
    }
    task.withLock { $0 = sweeping }
  }

  func end() { task.withLock { $0.take() }?.cancel() }

  deinit { end() }
}
