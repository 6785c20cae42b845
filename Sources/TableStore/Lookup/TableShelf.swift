/// The file that readers of a table see, and its index.
///
/// It is exchanged as a whole with the file: by emptying the table, becoming its owner, or closing.
/// Never copy it under its lock: the next change would copy the whole index.
struct TableShelf {
  /// `nil` once closed; then the index is empty.
  let file: TableFile?
  private(set) var index: TableIndex
  /// True when the file has the table's name and this process its lock.
  let isOwner: Bool
  /// Opens the file anew where it is a guest file, whose lock this process has; `nil` for the
  /// table's own file and for one without a name.
  let guest: TableOpener?
  /// Reads the named file where another process owns it.
  var reader: TableReader?

  /// A file that is owned.
  init(_ opened: TableOpener.Opened) {
    self.init(file: opened.file, index: opened.index, isOwner: true)
  }

  /// A guest file.
  init(guest opened: TableOpener.Opened, opener: TableOpener, reader: TableReader) {
    self.init(file: opened.file, index: opened.index, isOwner: false, guest: opener)
    self.reader = reader
  }

  /// An empty private file.
  init(privateFile file: TableFile, reader: TableReader?) {
    self.init(
      file: file, index: TableIndex(slotCount: file.layout.slotCount, states: file.states),
      isOwner: false)
    self.reader = reader
  }

  /// The shelf of a closed table.
  static var closed: TableShelf {
    let index = TableIndex(slotCount: 0, states: SlotStates(slotCount: 0))
    return TableShelf(file: nil, index: index, isOwner: false)
  }

  /// Changes the index in place.
  mutating func change<Result, Failure: Error>(
    _ body: (inout TableIndex) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(&index)
  }

  private init(
    file: TableFile?, index: TableIndex, isOwner: Bool, guest: TableOpener? = nil
  ) {
    self.file = file
    self.index = index
    self.isOwner = isOwner
    self.guest = guest
  }
}
