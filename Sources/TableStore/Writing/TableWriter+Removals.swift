import Locking

/// Remembering removals in the file, for images of other files of the table.
extension TableWriter {
  /// A generation for the store or removal that happens now.
  mutating func nextGeneration() -> UInt64 {
    generation = max(generation + 1, Self.timeOfDay)
    return generation
  }

  /// Whether writing the removals that are noted will make the log forget some.
  func forgetsMore(than log: RemovalLog) -> Bool {
    var fresh = log
    _ = unlogged.note(in: &fresh)
    return fresh.generation(of: .forgotten) > log.generation(of: .forgotten)
  }

  /// Writes the removals that are noted, if the file has a name; without one nobody takes it in but
  /// this process, which knows them.
  ///
  /// - Returns: The error of a write; the removals stay noted then.
  mutating func writeRemovals(to file: TableFile) -> SystemError? {
    guard !unlogged.isEmpty, lockedFile?.file === file else { return nil }
    do throws(SystemError) {
      var fresh = try removals(in: file)
      // After an error only the file tells what is in it.
      log = nil
      for place in unlogged.note(in: &fresh) {
        let (bytes, offset) = fresh.bytes(of: place)
        try file.system.write(bytes, to: file.descriptor, at: offset)
      }
      log = fresh
      unlogged = Removals()
      return nil
    } catch {
      return error
    }
  }

  /// The removals that the current file remembers.
  func removals(in file: TableFile) throws(SystemError) -> RemovalLog {
    if let log { return log }
    return try file.slotReader.removals()
  }

  /// The current table with a new file in place of the locked one.
  func renewed(with opened: TableOpener.Opened) -> CurrentTable {
    lookup.current.withLock { now in
      guard let guest = now.guest, let reader = now.reader else { return CurrentTable(opened) }
      return CurrentTable(opened, guest: guest, reader: reader)
    }
  }
}
