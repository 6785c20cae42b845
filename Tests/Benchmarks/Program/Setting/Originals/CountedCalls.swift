import FastImageCache
import Foundation
import Locking
import OriginalStore
import TableStore

/// Counts the system calls of a store of originals.
final class CountedCalls: Sendable {
  /// By kind; an object, since a lock cannot be copied into a closure.
  private final class Counts: Sendable {
    let byKind = Lock<[SystemCall.Kind: Int]>([:])
  }

  private let counts = Counts()

  /// Calls of one kind so far, or all of them.
  func count(_ kind: SystemCall.Kind? = nil) -> Int {
    counts.byKind.withLock { counts in kind.map { counts[$0] ?? 0 } ?? counts.values.reduce(0, +) }
  }

  /// A store whose calls are counted.
  func makeStore(
    _ name: String, in place: URL, byteCount: Int = 256 << 20
  ) -> SourceStore {
    let counts = counts
    return SourceStore(
      name: name, directory: place, budget: StorageBudget(byteCount: byteCount),
      lifetime: SourceStore.Lifetime(), protection: .untilFirstUnlock
    ) { settings in
      settings.system = SystemCalls { (call: borrowing SystemCall) throws(SystemError) in
        let kind = call.kind
        counts.byKind.withLock { $0[kind, default: 0] += 1 }
      }
    }
  }
}
