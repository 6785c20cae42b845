/// What the readers of a table see: the file, and what is where in it.
///
/// It is exchanged as a whole when the file is: by emptying the table, by becoming its owner, by
/// closing. It is never copied while its lock is held, since the index would be copied with it at
/// its next change.
struct TableShelf {
  /// `nil` once closed; then the index is empty.
  let file: TableFile?
  private(set) var index: TableIndex
  /// True when the file is the one with the name, and its lock is ours.
  let isOwner: Bool
  /// The owner's table, when that is another process.
  var reader: TableReader?

  /// A file that is owned.
  init(_ opened: TableOpener.Opened) {
    self.init(file: opened.file, index: opened.index, isOwner: true)
  }

  /// An empty file without a name.
  init(nameless file: TableFile, reader: TableReader?) {
    self.init(
      file: file, index: TableIndex(slotCount: file.layout.slotCount, states: file.states),
      isOwner: false)
    self.reader = reader
  }

  /// What is left of a closed table.
  static var closed: TableShelf {
    let index = TableIndex(slotCount: 0, states: SlotStates(slotCount: 0))
    return TableShelf(file: nil, index: index, isOwner: false)
  }

  /// Changes the index in place.
  mutating func change<Result>(_ body: (inout TableIndex) -> Result) -> Result { body(&index) }

  private init(file: TableFile?, index: TableIndex, isOwner: Bool) {
    self.file = file
    self.index = index
    self.isOwner = isOwner
  }
}
