import Locking

/// The boards of one table: one for the file in use, and those of files that it replaced.
///
/// A hit reads a board without retaining it, so no board may go while the table exists. Boards
/// whose files are gone are used again; there are as many as there ever were files with leases at
/// one time.
final class BoardPool: Sendable {
  private let boards = Lock<[SlotBoard]>([])

  /// A board without pictures, for a new mapping of a file.
  func take(slotCount: Int) -> SlotBoard {
    boards.withLock { boards in
      if let board = boards.first(where: { $0.slotCount == slotCount && $0.reuse() }) {
        return board
      }
      let board = SlotBoard(slotCount: slotCount)
      boards.append(board)
      return board
    }
  }

  /// Keeps the board of a file that another opening of the table left.
  func keep(_ board: SlotBoard) {
    boards.withLock { boards in
      if !boards.contains(where: { $0 === board }) { boards.append(board) }
    }
  }
}
