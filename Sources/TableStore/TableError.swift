/// The reason why a table could not be opened or changed; reading never throws, it misses.
package enum TableError: Error, Hashable, Sendable {
  /// A name is empty or longer than 255 bytes of UTF-8.
  case invalidName(String)
  /// A geometry has no pixels, contradicts itself, or exceeds the limits of a table.
  case invalidGeometry(TableGeometry)
  /// A capacity holds no slot, or more than a table can hold.
  case invalidCapacity(TableCapacity)
  /// The path, or the name of a table in it, is that of something that must not be replaced.
  case occupied(path: String)
  /// The metadata is longer than the room beside this table's pixels.
  case metadataTooLarge(byteCount: Int, limit: Int)
  /// The slot was sealed for a table of another geometry.
  case foreignSlot
  /// Every slot is leased; nothing was stored and nothing evicted.
  case allSlotsLeased
  /// Several stores failed in a row, and this many more will be refused without trying.
  case paused(attemptsLeft: Int)
  /// There is no memory for a picture of this size.
  case outOfMemory(byteCount: Int)
  /// The device, or the user's share of it, is full.
  case diskFull(SystemError)
  /// The device is locked, and the table of this name cannot be read or changed until it is
  /// unlocked.
  case protectedNow(name: String)
  /// The table is open in this process, for so many pictures and with this protection.
  case openOtherwise(slotCount: Int, FileProtection)
  /// The system refused a call.
  case system(SystemError)
  /// Another process owns the file, and removals made here, or pictures without a guest file, wait
  /// until it is gone.
  case inUse
  /// The table was closed.
  case closed
}

extension TableError {
  package init(_ error: SystemError) {
    self = error.isDiskFull ? .diskFull(error) : .system(error)
  }

  /// Runs system calls, and translates their errors.
  package static func wrapping<Result: ~Copyable>(
    _ body: () throws(SystemError) -> Result
  ) throws(TableError) -> Result {
    do throws(SystemError) { return try body() } catch { throw TableError(error) }
  }

  /// The result of `body`; `nil` after an error; a locked device's error is thrown:
  /// it passes, and a caller that goes on without a result would not notice.
  static func unlessProtected<Result>(
    _ body: () throws(TableError) -> Result?
  ) throws(TableError) -> Result? {
    do throws(TableError) { return try body() } catch .protectedNow(let name) {
      throw .protectedNow(name: name)
    } catch {
      return nil
    }
  }
}

/// How much a table may hold.
package enum TableCapacity: Hashable, Sendable {
  /// Slots of the largest table; their records take 256 MiB.
  package static let maximumSlotCount = 1 << 22

  /// This many pictures.
  case slots(Int)
  /// As many pictures as fit in this many bytes of file, index included.
  case bytes(Int)
}
