import Locking

/// How far a listing of a table has come: through the own file, and then through the one that another
/// process owns.
package struct ListingCursor: Sendable {
  /// A slot of the file with this nonce. A file that takes another one's place is listed from its
  /// beginning, since its images may be in any of its slots.
  struct Position: Sendable {
    var nonce: UInt64 = 0
    var slot = 0

    mutating func enter(_ header: TableHeader) {
      if nonce != header.nonce { self = Position(nonce: header.nonce) }
    }
  }

  var own = Position()
  var other = Position()

  package init() {}
}

/// Lists images a few at a time, without leases: a listed slot can be claimed meanwhile.
extension TableLookup {
  /// Slots looked at under one taking of the lock.
  private static var step: Int { 128 }

  /// The next images of a listing; none at its end.
  ///
  /// Of each image the record and the trailer are read, and ids that disagree with the record are left
  /// out; the pixels are not read.
  func list(_ cursor: inout ListingCursor) throws(TableError) -> [TableEntryInfo] {
    while let file {
      cursor.own.enter(file.header)
      let slots = cursor.own.slot..<(cursor.own.slot + Self.step)
      let listed = try entries(of: file, in: slots)
      guard current.withLock({ $0.file === file }) else { continue }
      guard let listed else {
        return reader.map { others(of: $0, &cursor.other) } ?? []
      }
      cursor.own.slot = slots.upperBound
      if !listed.isEmpty { return listed }
    }
    throw .closed
  }

  /// The images in these slots; `nil` if all slots in use are below.
  private func entries(
    of file: TableFile, in slots: Range<Int>
  ) throws(TableError) -> [TableEntryInfo]? {
    if isLocked { throw .protectedDataUnavailable(name: opener.name) }
    // Slots whose records cannot be read are misses, and not listed either.
    try? readRecords(of: file, in: slots.clamped(to: 0..<file.layout.slotCount))
    let records = current.withLock { current -> [(slot: Int, record: SlotRecord)]? in
      guard current.file === file else { return [] }
      return slots.lowerBound < current.index.states.preparedCount
        ? current.index.currentRecords(in: slots) : nil
    }
    guard let records else { return nil }
    var read: [TableEntryInfo] = []
    for (slot, record) in records {
      do throws(SystemError) {
        guard let trailer = try file.slotReader.trailer(of: slot, record: record) else { continue }
        read.append(TableEntryInfo(slot: slot, record: record, trailer: trailer))
      } catch {
        // Any other error makes a miss of the image, too.
        if file.system.isLock(error) { throw .protectedDataUnavailable(name: opener.name) }
      }
    }
    // A writer takes a slot out of the index before it writes there: these were read as they were
    // stored.
    return current.withLock { current in
      current.file === file ? read.filter { current.index.isSame($0.slot, $0.generation) } : []
    }
  }

  /// The next images of another owner's file that no image of this process hides.
  private func others(
    of reader: TableReader, _ position: inout ListingCursor.Position
  ) -> [TableEntryInfo] {
    while let listed = reader.list(&position, count: Self.step) {
      let visible = current.withLock { current in
        // As lookups do it: behind an own record that cannot be read nothing is found.
        listed.filter { listed in
          let isRead = try? current.index.readRecords(of: listed.digest)
          return isRead != nil && current.index.find(listed.digest) == nil
        }
      }
      if !visible.isEmpty { return visible }
    }
    return []
  }
}
