/// The reason why a table could not be opened or changed; reading never throws, it misses.
package enum TableError: Error, Hashable, Sendable {
  /// A name is empty or longer than 255 bytes of UTF-8.
  case invalidName(String)
  /// A geometry has no pixels, contradicts itself, or exceeds the limits of a table.
  case invalidGeometry(TableGeometry)
  /// A capacity holds no slot, or more than a table can hold.
  case invalidCapacity(TableCapacity)
  /// The name of a table is that of something that must not be replaced.
  case occupied(path: String)
  /// The path is that of something in the place of a folder.
  case noFolder(path: String)
  /// The folder belongs to another user, who could exchange its files at any time.
  case foreignFolder(path: String)
  /// The metadata is longer than the room beside this table's pixels.
  case metadataTooLarge(byteCount: Int, limit: Int)
  /// The slot was sealed for a table of another geometry.
  case foreignSlot
  /// Every slot is leased; nothing was stored and nothing evicted.
  case allSlotsLeased
  /// Several stores failed in a row, and this many more will be refused without trying.
  case paused(attemptsLeft: Int)
  /// There is no memory for an image of this size.
  case outOfMemory(byteCount: Int)
  /// The device, or the user's share of it, is full.
  case diskFull(SystemError, path: String? = nil)
  /// The device is locked, and the table of this name cannot be read or changed until it is
  /// unlocked.
  case protectedDataUnavailable(name: String)
  /// The table is open in this process, for so many images and with this protection.
  case openOtherwise(slotCount: Int, FileProtection)
  /// The system refused a call, for the file or folder at a path if that is known.
  case system(SystemError, path: String? = nil)
  /// Another process owns the file, and removals made here, or images without a guest file, wait
  /// until it is gone.
  case inUse
  /// The table was closed.
  case closed
}

extension TableError {
  package init(_ error: SystemError, path: String? = nil) {
    self = error.isDiskFull ? .diskFull(error, path: path) : .system(error, path: path)
  }

  /// True for faults of the disk and of the folder, which a cache can do without; false for mistakes of the
  /// caller, for a locked device, and for states of an open table.
  package var isOfStorage: Bool {
    switch self {
    case .occupied, .noFolder, .foreignFolder, .diskFull, .system: true
    default: false
    }
  }

  /// Runs system calls, and translates their errors.
  ///
  /// - Parameter path: The file or folder that the calls are about.
  package static func wrapping<Result: ~Copyable>(
    _ path: String? = nil, _ body: () throws(SystemError) -> Result
  ) throws(TableError) -> Result {
    do throws(SystemError) { return try body() } catch { throw TableError(error, path: path) }
  }
}

extension TableError: CustomStringConvertible {
  /// One sentence for people, which names the file where a file is the reason.
  package var description: String {
    switch self {
    case .invalidName(let name):
      "A name needs 1 to 255 bytes; \"\(name.prefix(40))\" has \(name.utf8.count)."
    case .invalidGeometry(let geometry):
      "No table has images of \(geometry.width) x \(geometry.height) pixels in rows of "
        + "\(geometry.rowByteCount) bytes."
    case .invalidCapacity(.slots(let count)): "No table has room for \(count) images."
    case .invalidCapacity(.bytes(let count)): "No table of these images has \(count) bytes."
    case .occupied(let path): "\(path) is taken by something that is no image table."
    case .noFolder(let path): "\(path) is a file or a link in the place of a folder."
    case .foreignFolder(let path): "\(path) belongs to another user."
    case .metadataTooLarge(let byteCount, let limit):
      "The metadata has \(byteCount) bytes; the table has room for \(limit)."
    case .foreignSlot: "The image was drawn for another table."
    case .allSlotsLeased: "All images of the table are in use."
    case .paused(let attemptsLeft):
      "After failures in a row, the next \(attemptsLeft) images are not stored."
    case .outOfMemory(let byteCount): "There is no memory for an image of \(byteCount) bytes."
    case .diskFull(_, let path): path.map { "The disk of \($0) is full." } ?? "The disk is full."
    case .protectedDataUnavailable(let name):
      "The table \"\(name)\" cannot be read while the device is locked."
    case .openOtherwise(let slotCount, let protection):
      "This process has the table open for \(slotCount) images, with protection \"\(protection)\"."
    case .system(let error, let path): path.map { error.sentence(about: $0) } ?? error.description
    case .inUse:
      "Another process owns the table; removals made here, and images without a guest file, wait "
        + "until that process or this one is gone."
    case .closed: "The table is closed."
    }
  }
}

/// How much a table may hold.
package enum TableCapacity: Hashable, Sendable {
  /// Slots of the largest table; their records take 256 MiB.
  package static let maximumSlotCount = 1 << 22

  /// This many images.
  case slots(Int)
  /// As many images as fit in this many bytes of file, index included.
  case bytes(Int)
}
