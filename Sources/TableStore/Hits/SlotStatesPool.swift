import Locking

/// All `SlotStates` of one table: those of the file in use, and of files that it replaced.
///
/// A hit reads slot states without retaining them, so none may be freed while the table exists. The
/// pool uses those of closed files again, so it never has more than there were files with leases at
/// one time.
final class SlotStatesPool: Sendable {
  private let all = Lock<[SlotStates]>([])

  /// Slot states without images, for a file that has just been opened.
  func take(slotCount: Int) -> SlotStates {
    all.withLock { all in
      if let resting = all.first(where: { $0.slotCount == slotCount && $0.reuse() }) {
        return resting
      }
      let states = SlotStates(slotCount: slotCount)
      all.append(states)
      return states
    }
  }
}
