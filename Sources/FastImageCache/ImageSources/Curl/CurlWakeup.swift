#if !canImport(Darwin)
  import CCURL
  import Locking

  /// Wakes the thread that waits in curl_multi_poll(3), from any thread.
  ///
  /// Invariant: `multi` is set only while the handle exists, and is used under the lock alone, so
  /// that no late wake-up reaches a handle that is gone. The pointer is stored as a number because a
  /// pointer is not `Sendable`; curl_multi_wakeup(3) is the one call that any thread may make.
  final class CurlWakeup: Sendable {
    private let multi = Lock<UInt>(0)

    func wake() {
      multi.withLock { multi in
        if let multi = UnsafeMutableRawPointer(bitPattern: multi) { fic_curl_multi_wakeup(multi) }
      }
    }

    /// Called when a handle was made, before the former one goes.
    func move(to multi: UnsafeMutableRawPointer) {
      self.multi.withLock { $0 = UInt(bitPattern: multi) }
    }

    /// Called before the handle goes.
    func invalidate() {
      multi.withLock { $0 = 0 }
    }
  }
#endif
