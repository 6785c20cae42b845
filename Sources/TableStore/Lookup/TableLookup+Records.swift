import Locking

/// Reading records that the index left in the file (`TableIndex`, invariant 5).
///
/// The shelf's lock is not held meanwhile, since a page of the file may have to come from the disk.
/// An unread record does not change: a slot is written only after its record was read.
///
/// A call that fails leaves the slots unread for the next lookup. A slot is lost only when its
/// record was read and is not the adopted one.
extension TableLookup {
  /// Asks the shelf about one entity, after reading the records that the answer depends on.
  func ask<Answer>(
    about entity: TableID.Digest, _ question: (inout TableShelf) -> Answer
  ) throws(SystemError) -> Answer {
    while true {
      let step = shelf.withLock { shelf -> Step<Answer> in
        if let file = shelf.file, let slot = shelf.index.unreadSlot(for: entity) {
          return .read(slot: slot, file)
        }
        return .answer(question(&shelf))
      }
      switch step {
      case .answer(let answer): return answer
      case .read(let slot, let file):
        let record = try file.slotReader.record(of: slot)
        var isLost = false
        changeIndex(of: file) { isLost = $0.learn(record, in: slot, of: entity) }
        // Its entity is unknown: the index had only the first bits of a digest.
        if isLost { tellOfDamage(to: nil) }
      }
    }
  }

  /// Asks as above, for replacing or removing the entity's picture: slots that may be the entity's
  /// and cannot be read are lost, since a later session might find the old picture in them.
  ///
  /// - Throws: The error of a locked device; no slot is lost then.
  func askOrLose<Answer>(
    about entity: TableID.Digest, _ question: (inout TableShelf) -> Answer
  ) throws(SystemError) -> (answer: Answer, lost: [Int]) {
    do throws(SystemError) {
      return (try ask(about: entity, question), [])
    } catch {
      if opener.system.isLock(error) { throw error }
      return shelf.withLock { shelf in
        let lost = shelf.change { $0.loseUnread(of: entity) }
        return (question(&shelf), lost)
      }
    }
  }

  /// Reads all records that are unread, and returns the slots that were lost.
  @discardableResult
  func readRecords(of file: TableFile) throws(SystemError) -> [Int] {
    guard shelf.withLock({ $0.file === file && $0.index.unreadCount > 0 }) else { return [] }
    let lost = try file.slotReader.readRecords { changeIndex(of: file, $0) }
    for _ in lost { tellOfDamage(to: nil) }
    return lost
  }

  private enum Step<Answer> {
    case answer(Answer)
    case read(slot: Int, TableFile)
  }
}

extension TableIndex {
  /// Notes the record that was read for a slot that is unread under this digest; true when the slot
  /// is lost.
  @discardableResult
  mutating func learn(_ record: SlotRecord?, in slot: Int, of entity: TableID.Digest) -> Bool {
    if let record { learn(record, in: slot) }
    return lose(slot, of: entity)
  }
}
