import FastImageCache
import Foundation
import Locking
import TableStore

/// Counts the system calls of a store of originals, without those of SQLite.
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
  ) -> OriginalStore {
    let counts = counts
    let system = SystemCalls { (call: borrowing SystemCall) throws(SystemError) in
      let kind = call.kind
      counts.byKind.withLock { $0[kind, default: 0] += 1 }
    }
    return OriginalStore(place.appending(path: name), byteCount, system: system) {
      Int64(Date().timeIntervalSince1970 * 1_000_000)
    }
  }
}
