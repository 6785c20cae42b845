/// The file that readers of a table see, and its index.
///
/// It is exchanged as a whole with the file: by emptying the table, becoming its owner, or closing.
/// Never copy it under its lock: the next change would copy the whole index.
struct CurrentTable {
  /// `nil` once closed; then the index is empty.
  let file: TableFile?
  var index: TableIndex
  /// True when the file has the table's name and this process its lock.
  var isOwner = false
  /// Opens the file anew where it is a guest file, whose lock this process has; `nil` for the
  /// table's own file and for one without a name.
  var guest: TableOpener?
  /// Reads the named file where another process owns it.
  var reader: TableReader?
}

extension CurrentTable {
  /// A file that is owned, or a guest file, for which there are an opener and a reader.
  init(_ opened: TableOpener.Opened, guest: TableOpener? = nil, reader: TableReader? = nil) {
    self.init(
      file: opened.file, index: opened.index, isOwner: guest == nil, guest: guest, reader: reader)
  }

  /// An empty private file.
  init(privateFile file: TableFile, reader: TableReader?) {
    let index = TableIndex(slotCount: file.layout.slotCount, states: file.states)
    self.init(file: file, index: index, reader: reader)
  }

  /// That of a closed table.
  static var closed: CurrentTable {
    CurrentTable(file: nil, index: TableIndex(slotCount: 0, states: SlotStates(slotCount: 0)))
  }
}
