import Locking
import Synchronization

/// Keeps a file that was replaced until the last lease on it ends.
///
/// Invariant: while a file is retired, `outstandingLeases` counts the leases that had not ended
/// when it was retired, less those that ended since. The file goes with the last of them, outside
/// the lock, because closing unmaps it, which may take its time.
final class Retirement: Sendable {
  private let outstandingLeases = Atomic<Int>(0)
  private let file = Lock<(any AnyObject & Sendable)?>(nil)

  /// Retires a file.
  ///
  /// - Parameter retireSlots: Lets no slot of the file be leased any more, and returns the leases
  ///   that have not ended.
  func begin(keeping file: any AnyObject & Sendable, _ retireSlots: () -> Int) {
    _ = self.file.withLock { kept in
      kept = file
      let added = outstandingLeases.wrappingAdd(retireSlots(), ordering: .acquiringAndReleasing)
      return added.newValue == 0 ? kept.take() : nil
    }
  }

  /// A lease on a slot of the retired file has ended. Kept out of the code of a hit, which needs it
  /// hardly ever.
  @inline(never)
  func leaseEnded() {
    let left = outstandingLeases.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    guard left.newValue == 0 else { return }
    _ = file.withLock { kept in kept.take() }
  }
}
