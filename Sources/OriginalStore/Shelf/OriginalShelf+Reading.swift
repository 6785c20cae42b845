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
    let (held, known) = state.withLock { state -> (Held?, OriginalRecord?) in
      if let held = state.held[key.digest] { return (held, nil) }
      state.readers[key.digest, default: 0] += 1
      // Before the file is read: a record that is put in its place meanwhile is newer than the file.
      return (nil, state.index.place(of: key.digest).map { state.index[$0] })
    }
    if let held {
      return KeptContent(bytes: held.content, facts: held.facts, contentHash: held.contentHash)
    }
    defer { endReading(key.digest) }
    let now = settings.now()
    switch try folder().read(key) {
    case .missing:
      forgetIfMissing(key)
      return nil
    case .damaged:
      removeIfDamaged(key)
      return nil
    case .whole(let original):
      // A file that another process wrote may have no record here, or that of an older one.
      let isKnown = known?.contentHash == original.contentHash
      let judged = isKnown ? known : nil
      let record = judged ?? record(of: original, key.digest)
      guard !settings.keepTime.isOver(record, now: now) else { return nil }
      noteUse(record, inPlaceOf: known?.contentHash)
      return KeptContent(
        bytes: original.content, facts: original.facts, contentHash: original.contentHash)
    }
  }

  /// As `OriginalFolder.copyFile(of:to:)`, of an original that is not held any more.
  package func copyFile(of key: OriginalKey, to path: String) throws(TableError) -> Bool {
    try folder().copyFile(of: key, to: path)
  }

  /// All originals whose files prove themselves. Blocks, on any thread.
  package func list() throws(TableError) -> [ListedOriginal] {
    let records = state.withLock { state in
      state.index.places { !$0.flags.contains(.partial) }.map { state.index[$0] }
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

  private func endReading(_ key: OriginalDigest) {
    state.withLock { state in
      let count = (state.readers[key] ?? 1) - 1
      state.readers[key] = count == 0 ? nil : count
    }
  }

  /// - Parameters:
  ///   - record: That of the file that was read.
  ///   - contentHash: Of the record that was there before the read. A newer one stays.
  private func noteUse(_ record: OriginalRecord, inPlaceOf contentHash: UInt64?) {
    let stamp = budget.stamp(at: settings.now())
    state.withLock { state in
      guard let place = state.index.place(of: record.key),
        state.index[place].contentHash == contentHash
      else { return }
      // A kill, a power cut or another process put a newer file under the name.
      if record.contentHash != contentHash { state.index.replace(place, with: record) }
      state.index.use(place, at: stamp)
    }
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
