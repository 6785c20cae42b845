/// The offsets of everything in an index file, computed from the slot count alone.
/// `Docs/TableFormat.md` has them.
struct IndexLayout: Hashable, Sendable {
  static let headsOffset = 512
  static let itemByteCount = 16

  let slotCount: Int
  /// A power of two, 1.5 to 3 for each slot.
  let bucketCount: Int

  init(slotCount: Int) {
    self.slotCount = slotCount
    var count = 16
    while count * 2 < slotCount * 3 { count *= 2 }
    bucketCount = count
  }

  var itemsOffset: Int { Self.headsOffset + bucketCount * 4 }
  var marksOffset: Int { itemsOffset + slotCount * Self.itemByteCount }

  /// Whole pages of every target.
  var byteCount: Int {
    let page = TableLayout.pageByteCount
    return (marksOffset + slotCount + page - 1) / page * page
  }
}

/// The session and the table file that an index file belongs to.
///
/// After another start of the system the file may be torn, since its pages reach the device in any order; an
/// index of another table file tells nothing about this one.
struct IndexIdentity: Hashable, Sendable {
  /// The magic of tables, so that an index file may be deleted like one.
  private static let magic = TableHeader.magic.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  private static let revision: UInt64 = 1
  static let byteCount = 72

  let boot: BootID
  let file: FileStatus.Identity
  /// A copy of the table file, as of a backup, may have the inode again of the one that it replaces.
  let birthTime: Int64
  let nonce: UInt64
  let slotCount: Int

  /// The bytes that begin an index file.
  var bytes: [UInt8] {
    let words = [
      Self.magic.littleEndian, Self.revision << 32 | UInt64(slotCount), boot.low, boot.high,
      file.device,
      file.inode, UInt64(bitPattern: birthTime), nonce,
    ]
    let hash = LaneHash.hash(
      words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7])
    return (words + [hash]).withUnsafeBytes { Array($0) }
  }

  /// The bytes with which an index file begins that is not whole yet.
  static var begunBytes: [UInt8] { TableHeader.magic + [0, 0, 0, 0] }
}
