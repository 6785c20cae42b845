import Locking

/// Reading records that the index left in the file (`TableIndex`, invariant 5).
///
/// Never under the lock of the shelf, since a page of the file may have to come from the disk. A record
/// that is unread does not change meanwhile: a slot is written only once its record was read.
extension TableCore {
  /// Asks what concerns one entity, when the index knows all that it needs for the answer.
  func ask<Answer>(
    about entity: TableID, _ question: (inout TableShelf) -> Answer
  ) -> Answer {
    while true {
      let step = shelf.withLock { shelf -> Step<Answer> in
        if let file = shelf.file, let slot = shelf.index.unreadSlot(for: entity.digest) {
          return .read(slot: slot, file)
        }
        return .answer(question(&shelf))
      }
      switch step {
      case .answer(let answer): return answer
      case .read(let slot, let file):
        // A record that cannot be read is as lost as a damaged one.
        let record = (try? file.slotReader.record(of: slot)) ?? nil
        changeIndex(of: file) { index in
          if let record { index.learn(record, in: slot) } else { index.lose(slot) }
        }
      }
    }
  }

  /// Reads all records that are unread.
  func readRecords(of file: TableFile) {
    file.slotReader.readRecords { changeIndex(of: file, $0) }
  }

  private enum Step<Answer> {
    case answer(Answer)
    case read(slot: Int, TableFile)
  }
}
