import Locking
import Synchronization

/// Keeps a file that left the shelf until the last lease on it ends.
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
  ///   that have not ended; no slot counts that was retired before.
  func begin(keeping file: any AnyObject & Sendable, _ retireSlots: () -> Int) {
    _ = self.file.withLock { kept in
      kept = file
      let added = outstandingLeases.wrappingAdd(retireSlots(), ordering: .acquiringAndReleasing)
      return added.newValue == 0 ? kept.take() : nil
    }
  }

  /// Ends the retirement of a file that is opened again; its opener retains it.
  ///
  /// - Parameter resumeSlots: Lets the slots be leased again, and returns the leases of those that
  ///   were retired.
  func end(_ resumeSlots: () -> Int) {
    _ = file.withLock { kept in
      outstandingLeases.wrappingSubtract(resumeSlots(), ordering: .acquiringAndReleasing)
      return kept.take()
    }
  }

  /// A lease on a slot of the retired file has ended. Kept out of the code of a hit, which needs it
  /// hardly ever.
  @inline(never)
  func leaseEnded() {
    let left = outstandingLeases.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    guard left.newValue == 0 else { return }
    _ = file.withLock { kept in
      // The file may have been opened and retired again since.
      outstandingLeases.load(ordering: .acquiring) == 0 ? kept.take() : nil
    }
  }
}
