/// Guest files: table files beside the table's, for processes that do not own it. A process that ends leaves its
/// guest file behind, and the table's owner takes it in.
extension TableOpener {
  /// A table with a guest file for this process: the `former` one, else a new one, else one that another
  /// process left; `nil` where all are in use.
  ///
  /// New ones come first, because images in a file that was left are for all: the owner takes it
  /// in, unless another guest uses it.
  ///
  /// - Parameter isRemoved: Picks records of images that this process removed meanwhile.
  func guestTable(
    reader: TableReader?, former: String? = nil, isRemoved: (SlotRecord) -> Bool = { _ in false }
  ) -> CurrentTable? {
    // Without the owner's removals a file that was left might bring removed images back.
    guard let reader, let removals = try? reader.removals(),
      let taken = try? directory.guestNames(of: fileName)
    else { return nil }
    let names = TableDirectory.guestNames(for: fileName)
    let unused = names.filter { !taken.contains($0) }
    for name in names.filter({ $0 == former }) + unused + taken {
      let guest = guest(named: name)
      do throws(TableError) {
        let opened = try guest.open(usesIndex: false) { _, record in
          removals.forbids(record) || reader.hasNewer(than: record) || reader.hasTombstone(record)
            || isRemoved(record)
        }
        if let opened { return CurrentTable(opened, guest: guest, reader: reader) }
      } catch {
        // A folder or disk that takes no new file would refuse the next name too.
        if unused.contains(name) { return nil }
      }
    }
    return nil
  }

  /// The current table of a second opener: with a guest file where there is a table to come to, else with
  /// a private file.
  ///
  /// - Parameter refusal: Why the table's own file cannot be made or written; a guest file is not tried then.
  func secondTable(
    reader: TableReader?, because refusal: TableError? = nil
  ) throws(TableError) -> CurrentTable {
    if refusal == nil, let current = guestTable(reader: reader) { return current }
    return CurrentTable(privateFile: try makeSecondFile(because: refusal), reader: reader)
  }

  /// Locks a guest file that its process left; `nil` for one that is in use, and for one of
  /// another layout, which is deleted.
  func lockLeftGuest(_ name: String) throws(SystemError) -> ReadableFile? {
    guard try system.status(of: name, in: directory.descriptor)?.isRegularFile == true else {
      return nil
    }
    let header: TableHeader?
    do {
      let descriptor = FileDescriptor(
        try system.openFile(name, in: directory.descriptor, .updating))
      guard try system.lock(descriptor.value) else { return nil }
      let status = try system.status(of: descriptor.value)
      guard try directory.leads(name, to: descriptor.value) else { return nil }
      let bytes = try system.read(descriptor.value, count: TableLayout.headerByteCount, at: 0)
      header = TableHeader(reading: bytes)
      if let header, status.isPrivate, status.linkCount == 1, header.name == self.name,
        header.layout.hasSameSlots(as: layout)
      {
        return ReadableFile(descriptor, header, system)
      }
    }
    // Unlocked by now, since deleting locks it anew.
    _ = try directory.remove(name)
    return nil
  }
}

extension TableDirectory {
  /// Bounds the disk space: a table and its guests take at most nine times its capacity.
  private static let guestCount = 8
  private static let guestMark = "-guest-"

  /// The names that guest files of a table may have.
  static func guestNames(for fileName: String) -> [String] {
    (1...guestCount).map { fileName + guestMark + String($0) }
  }

  /// The names of the guest files that a table has, in their order.
  func guestNames(of fileName: String) throws(SystemError) -> [String] {
    let names = Set(try system.names(in: descriptor))
    return Self.guestNames(for: fileName).filter(names.contains)
  }

  /// The name of the table file that a guest file belongs to; `nil` for other names.
  static func tableName(ofGuest name: String) -> String? {
    guard let digit = name.last?.wholeNumberValue, (1...guestCount).contains(digit) else {
      return nil
    }
    let table = String(name.dropLast(guestMark.count + 1))
    return name == table + guestMark + String(digit) ? table : nil
  }

  /// Deletes a name if it leads to an open file.
  func unlink(_ name: String, ifItIs file: Int32) throws(SystemError) {
    if try leads(name, to: file) { try system.unlink(name, in: descriptor) }
  }

  /// True while a name leads to an open file.
  func leads(_ name: String, to file: Int32) throws(SystemError) -> Bool {
    try system.status(of: name, in: descriptor)?.identity == system.status(of: file).identity
  }
}
