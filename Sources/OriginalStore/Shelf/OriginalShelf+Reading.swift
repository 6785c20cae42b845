package import Foundation
import Locking
package import TableStore

/// An original as a store answers it.
package struct KeptContent: Sendable {
  package let bytes: Data
  package let facts: OriginalFacts
  /// Tells these bytes from others under the same name.
  package let contentHash: UInt64
}

/// An original as a list shows it.
package struct ListedOriginal: Sendable {
  package let id: TableID
  package let facts: OriginalFacts
  package let record: OriginalRecord
  package let isForEveryone: Bool
  /// The bytes of the content.
  package let byteCount: Int
}

extension OriginalShelf {
  /// Reads the hints of the index, once; on the lane.
  ///
  /// - Throws: `protectedNow` while the device is locked: the shelf is not open then. Other failures show
  ///   at the first read or write.
  package func open() throws(TableError) {
    budget.checkLane()
    guard !state.withLock({ $0.isOpen }) else { return }
    try readHints()
    let isEmpty = state.withLock { $0.index.count == 0 }
    // An index that was lost is built again behind.
    if isEmpty, budget.byteCount > 0 { budget.enqueue { [weak self] in _ = try? self?.prepare() } }
  }

  /// The whole original, proven; `nil` where it is not there, or does not prove itself, or was kept
  /// long enough. Blocks, on any thread.
  ///
  /// - Throws: `protectedNow` while the device is locked; it is there then. `outOfMemory`, `system`.
  package func read(_ key: OriginalKey) throws(TableError) -> KeptContent? {
    let begun = state.withLock {
      state -> (held: Held?, known: OriginalRecord?, folder: OriginalFolder?) in
      if let held = state.held[key.digest] { return (held, nil, nil) }
      state.readers.append(key.digest)
      // Before the file is read: a record that is put in its place meanwhile is newer than the file.
      let known = state.index.place(of: key.digest).map { state.index[$0] }
      return (nil, known, state.folder)
    }
    if let held = begun.held {
      return KeptContent(bytes: held.content, facts: held.facts, contentHash: held.contentHash)
    }
    let reading: OriginalReading
    do throws(TableError) {
      let folder = if let folder = begun.folder { folder } else { try folder() }
      reading = try folder.read(key)
    } catch {
      state.withLock { $0.endReading(key.digest) }
      throw error
    }
    guard case .whole(let original) = reading else {
      state.withLock { $0.endReading(key.digest) }
      if case .missing = reading { forgetIfMissing(key) } else { removeIfDamaged(key) }
      return nil
    }
    return take(original, key.digest, known: begun.known)
  }

  /// Writes what ``read(_:)`` finds to a file, as `OriginalFolder.writeCopy(of:to:)`; false where it finds
  /// nothing.
  package func copyFile(of key: OriginalKey, to path: String) throws(TableError) -> Bool {
    guard let kept = try read(key) else { return false }
    try folder().writeCopy(of: kept.bytes, to: path)
    return true
  }

  /// All originals whose files prove themselves, but for those that were kept long enough. Blocks, on any
  /// thread.
  package func list() throws(TableError) -> [ListedOriginal] {
    let now = settings.now()
    let records = state.withLock { state in
      state.index.places { record in
        !record.flags.contains(.partial) && !settings.keepTime.isOver(record, now: now)
      }.map { state.index[$0] }
    }
    let everyone = OriginalKey(TableID(""), audience: "").audienceHash
    var list: [ListedOriginal] = []
    for record in records {
      guard case .whole(let original) = try folder().adopt(record.key) else { continue }
      list.append(
        ListedOriginal(
          id: original.id, facts: original.facts, record: record,
          isForEveryone: original.audienceHash.elementsEqual(everyone),
          byteCount: original.content.count))
    }
    return list
  }

  /// The folder, opened and made by the first call.
  func folder() throws(TableError) -> OriginalFolder {
    if let folder = state.withLock({ $0.folder }) { return folder }
    let opened = try OriginalFolder(
      path: settings.path, protection: settings.protection, system: settings.system)
    return state.withLock { state in
      let folder = state.folder ?? opened
      state.folder = folder
      return folder
    }
  }

  // MARK: Private

  /// Ends the reading of an original, and notes its use unless its time is over.
  ///
  /// - Parameter known: The record that was there before the read. A newer one stays.
  private func take(
    _ original: ProvenOriginal, _ key: OriginalDigest, known: OriginalRecord?
  ) -> KeptContent? {
    let now = settings.now()
    // A file that another process wrote may have no record here, or that of an older one.
    let judged = known?.contentHash == original.contentHash ? known : nil
    let record = judged ?? self.record(of: original, key)
    let isOver = settings.keepTime.isOver(record, now: now)
    let stamp = budget.stamp(at: now)
    state.withLock { state in
      state.endReading(key)
      guard !isOver, let place = state.index.place(of: key),
        state.index[place].contentHash == known?.contentHash
      else { return }
      // A kill, a power cut or another process put a newer file under the name.
      if judged == nil { state.index.replace(place, with: record) }
      state.index.use(place, at: stamp)
    }
    guard !isOver else { return nil }
    return KeptContent(
      bytes: original.content, facts: original.facts, contentHash: original.contentHash)
  }

  private func forgetIfMissing(_ key: OriginalKey) {
    guard state.withLock({ $0.index.place(of: key.digest) != nil }) else { return }
    budget.enqueue { [weak self] in
      guard let self, case .missing? = try? self.folder().read(key) else { return }
      self.forget(key.digest)
    }
  }

  private func removeIfDamaged(_ key: OriginalKey) {
    settings.report(.damaged(key.id))
    budget.enqueue { [weak self] in
      // It may have been replaced since.
      guard let self, (try? self.prepare()) == true,
        case .damaged? = try? self.folder().read(key)
      else { return }
      // Found damaged again, and tried again, if it stays.
      try? self.folder().remove(key.digest)
      self.forget(key.digest)
    }
  }
}

extension OriginalShelf.State {
  fileprivate mutating func endReading(_ key: OriginalDigest) {
    guard let index = readers.firstIndex(of: key) else { return }
    readers.swapAt(index, readers.count - 1)
    readers.removeLast()
  }
}
