import Locking

/// Asks the index about entities, after reading the records that the answer depends on.
extension TableLookup {
  /// Asks the current table about one entity.
  ///
  /// A record is read under the current table's lock. It is one page of a file that is mapped on a local volume, of
  /// which hits wait for none; of other files all records are in memory.
  ///
  /// - Throws: The error of a locked device; nothing changes then. A record that cannot be read for another
  ///   reason is a damaged image.
  func withRecordsLoaded<Answer>(
    of entity: TableID.Digest, _ question: (inout CurrentTable) -> Answer
  ) throws(SystemError) -> Answer {
    let (answer, lostCount) = try current.withLock { current throws(SystemError) in
      let lostCount = try current.index.readRecords(of: entity)
      return (question(&current), lostCount)
    }
    // Whose they were is not known: the index had only the hash of a digest.
    for _ in 0..<lostCount { tell(.damage(nil)) }
    return answer
  }

  /// Reads the records in a range of slots; those that the index waits for are known afterwards, but for
  /// those that cannot be read.
  func readRecords(of file: TableFile, in slots: Range<Int>) throws(SystemError) {
    guard current.withLock({ $0.file === file && $0.index.hasUnknown(in: slots) }) else { return }
    var records: [(slot: Int, record: SlotRecord)] = []
    do throws(SystemError) {
      try file.slotReader.forEachRecord(in: slots) { records.append(($0, $1)) }
    } catch {
      if file.system.isLock(error) { throw error }
    }
    changeIndex(of: file) { index in
      for (slot, record) in records { index.addRecord(record, in: slot) }
    }
  }
}
