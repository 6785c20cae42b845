package import Foundation
import Locking
import OriginalDatabase
import TableStore

extension OriginalStore {
  func begin(
    _ name: OriginalName, of owner: OriginalOwner, after former: OriginalLoad? = nil,
    isByHand: Bool = false
  ) -> OriginalLoad {
    let byHandSince = isByHand ? now() / 1_000_000 : nil
    let number = state.withLock { state in
      state.lastLoad += 1
      // Of what a removal has forbidden to the former one nothing is noted.
      let owner = former.map { state.loads[$0.number]?.owner } ?? owner
      state.loads[state.lastLoad] = owner.map {
        NotedLoad(name: name, owner: $0, byHandSince: byHandSince)
      }
      return state.lastLoad
    }
    return OriginalLoad(number) { [weak self] number in
      self?.state.withLock { _ = $0.loads.removeValue(forKey: number) }
    }
  }

  func download(_ original: OriginalRecord, _ load: OriginalLoad) -> OriginalDownload? {
    OriginalDownload(original, load, in: self)
  }

  /// The most bytes that wait to be written: other originals are not kept.
  private static let heldByteCountLimit = 64 << 20

  package func hold(
    _ original: OriginalRecord, _ bytes: Data?, for load: OriginalLoad?,
    from download: OriginalDownload?, if mayKeep: () -> Bool
  ) -> UInt64? {
    var (original, kept) = (original, bytes)
    // Its blocks may be in a file already.
    if let download { original.body = download.body.withLock { $0 } }
    let largest = Room(limit: byteLimit).largest
    if Room.rounded(original.byteCount) > largest {
      refuse(original, "It has \(original.byteCount) bytes, and one original at most \(largest).")
      kept = nil
    } else if let facts = lifetime.facts(of: original.terms) {
      original.freshness = facts
      original.row.lifetime = original.askedLifetime.lifetime(in: lifetime)
    } else {
      kept = nil
    }
    // Looked up before the lock is taken; afterwards another load may hold one.
    let isOutranked =
      original.isPlaceholder && lookUp(original.query)?.row.isPlaceholder == false
    let reason = state.withLock { state -> String? in
      if let fault = state.fault { return "\(fault)" }
      let isHeld = state.held[original.name]?.original.isPlaceholder == false
      if isOutranked || original.isPlaceholder && isHeld {
        return "A placeholder takes the place of no real original."
      }
      guard load.map(state.allows) ?? true, mayKeep() else {
        return "It was removed or replaced meanwhile."
      }
      let noted = load.flatMap { state.loads[$0.number] }
      if let noted { original.owner = noted.owner }
      if !original.isPlaceholder {
        let number = noted?.isByHand == false ? load?.number ?? .max : .max
        for (other, former) in state.loads
        where other < number && former.name == original.name && !former.isByHand {
          state.loads[other]?.isOutdated = true
        }
      }
      // From here on an older one answers no more, whether this one can be kept or not; but a real one of which only
      // another process knows is not older than a placeholder.
      if !original.isPlaceholder || state.superseded[original.number] != nil {
        state.supersede(original.number, by: .only(original.body))
      }
      state.held[original.name] = nil
      guard let kept else { return nil }
      guard state.suspensions.isEmpty else { return "The store is suspended." }
      let waiting = state.held.values.reduce(0) { $0 + $1.bytes.count }
      guard waiting + kept.count <= Self.heldByteCountLimit else {
        return "Too many originals wait for the disk."
      }
      original.lastUse = stamp(&state)
      // By hand, images are stored before it.
      original.stored = noted?.byHandSince ?? original.lastUse / 1_000_000
      state.held[original.name] = (original, kept, download)
      return nil
    }
    if let reason {
      refuse(original, reason)
      kept = nil
    }
    if kept == nil {
      enqueue { [self, name = original.name] () throws(DatabaseError) in dropSuperseded(name) }
    }
    return kept.map { _ in original.body }
  }

  /// Drops what was superseded by an original that is not there itself; where that fails, it is remembered.
  private func dropSuperseded(_ name: OriginalName) {
    do throws(DatabaseError) { try dropSuperseded(name.row) } catch { noteLeft(name, error) }
  }

  private func dropSuperseded(_ row: Int64) throws(DatabaseError) {
    let newest = state.withLock { state in
      state.held.keys.contains { $0.row == row } ? nil : state.superseded[row]
    }
    guard let newest else { return }
    try transaction { database throws(DatabaseError) in
      let older = try bodies(
        "SELECT id, body FROM original WHERE id = ?", [.integer(row)], in: database)
      for (row, body) in older where !newest.allows(body) { try evict(row, body, in: database) }
    }
    state.withLock { state in
      if state.superseded[row] == newest { state.superseded[row] = nil }
    }
  }

  /// Tells that an original could not be deleted or changed.
  func noteLeft(_ name: OriginalName, _ error: DatabaseError) {
    let reason = "A former one that stays on the disk answers no more until this process ends"
    listeners.send(name.id, .refused("\(reason): \(error)"))
  }

  func refuse(_ original: OriginalRecord, _ reason: String) {
    listeners.send(original.name.id, .refused(reason))
  }

  /// Forgets what was held, unless something younger is.
  private func release(_ original: OriginalRecord, isWritten: Bool) {
    state.withLock { state in
      guard state.held[original.name]?.original.body == original.body else { return }
      state.held[original.name] = nil
      if isWritten { state.superseded[original.number] = nil }
    }
  }

  // MARK: Writing

  func write(_ name: OriginalName) async {
    _ = try? await run { [self] () throws(DatabaseError) in writeHeld(name) }
  }

  /// Writes all originals that are held now, those of other caches included, and the order of use.
  func settle() async {
    _ = try? await run { [self] () throws(DatabaseError) in
      for name in state.withLock({ $0.held.keys }) { writeHeld(name) }
      if state.withLock({ $0.isOpen }) { try writeUses() }
    }
  }

  package func writeHeld(_ name: OriginalName) {
    guard let (original, bytes, download) = state.withLock({ $0.held[name] }) else {
      // Given up before it was written, perhaps.
      return dropSuperseded(name)
    }
    do throws(DatabaseError) {
      let begun = download?.takeFile(for: bytes)
      let file = if let begun { begun } else { try makeFile(original) }
      do throws(DatabaseError) {
        try file.append(bytes.dropFirst(file.original.wholeByteCount), in: bodies())
        try finish(file, original)
      } catch {
        discard(file)
        throw error
      }
      release(original, isWritten: true)
      listeners.send(name.id, .stored)
      // The disk takes changes: one more of those that are left goes, not always the same: it may fail.
      if let row = state.withLock({ $0.superseded.keys.randomElement() }) {
        try? dropSuperseded(row)
      }
    } catch {
      release(original, isWritten: false)
      refuse(original, "\(error)")
      dropSuperseded(name)
    }
  }

  /// Reserves the bytes of a body, and makes its file.
  func makeFile(_ original: OriginalRecord) throws(DatabaseError) -> BodyFile {
    var original = original
    original.stored = now() / 1_000_000
    (original.wholeByteCount, original.checksum) = (0, original.body)
    while true {
      writer.files[original.body] = try transaction {
        database throws(DatabaseError) -> BodyFile? in
        guard try makeRoom(for: original.byteCount, in: database) else { return nil }
        // From the moment on in which others see the row, its lock tells them that the writer lives.
        let name = BodyFolder.name(row: original.name.row, body: original.body)
        let file = BodyFile(original, try bodies().create(name))
        try database.run(OriginalSchema.intoDownload, original.values)
        return file
      }
      if let file = writer.files[original.body] { return file }
    }
  }

  /// Notes how far a file is whole.
  func noteProgress(_ file: BodyFile) throws(DatabaseError) {
    let original = file.original
    try transaction { database throws(DatabaseError) in
      let count = try database.run(
        "UPDATE download SET whole = ?, checksum = ? WHERE body = ?",
        [.number(original.wholeByteCount), .bits(original.checksum), .bits(original.body)])
      if count != 1 { throw wasRemoved }
    }
  }

  private var wasRemoved: DatabaseError { .init(.system, file, "It was removed meanwhile.") }

  /// Puts a whole file in the place of its name's older one.
  private func finish(_ file: BodyFile, _ original: OriginalRecord) throws(DatabaseError) {
    let (row, body) = (original.name.row, file.original.body)
    try transaction { database throws(DatabaseError) in
      guard try database.run("DELETE FROM download WHERE body = ?", [.bits(body)]) == 1,
        // A confirmation, another owner or a removal may have come.
        var whole = state.withLock({ $0.held[original.name] })?.original,
        whole.body == original.body
      else { throw wasRemoved }
      var older: (body: UInt64, isReal: Bool)?
      try database.run("SELECT body, placeholder FROM original WHERE id = ?", [.integer(row)]) {
        older = ($0.bits(0), $0.integer(1) == 0)
      }
      if let older {
        // Another process has kept the real one, unless that is known to be superseded.
        if whole.isPlaceholder, older.isReal, state.withLock({ $0.superseded[row] == nil }) {
          throw wasRemoved
        }
        try evict(row, older.body, in: database)
      }
      (whole.body, whole.checksum) = (body, file.original.checksum)
      whole.wholeByteCount = file.original.wholeByteCount
      try database.run(OriginalSchema.intoOriginal, whole.values)
    }
    writer.files[body] = nil
    file.close()
  }

  /// Deletes an unfinished file with its row; where that fails both are left over, and count.
  func discard(_ file: BodyFile) {
    writer.files[file.original.body] = nil
    file.close()
    _ = try? transaction { database throws(DatabaseError) in
      try remove(file.original.name.row, file.original.body, in: database)
    }
  }
}
