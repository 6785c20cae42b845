import Dispatch
import Foundation
import Locking
import OriginalDatabase
import TableStore

/// What the jobs of a store's queue share.
///
/// `@unchecked Sendable` is safe because only these jobs touch it, and the end of the store.
final class OriginalWriter: @unchecked Sendable {
  var database: Database?
  /// The database's file as it was opened.
  var identity: FileStatus.Identity?
  /// Bodies that are unlinked, and whose rows are not known to be gone: the next transaction drops them.
  var unlinked: [(row: Int64, body: UInt64)] = []
  /// The files of downloads under way.
  var files: [UInt64: BodyFile] = [:]
  var hasLookedForLeftovers = false
}

extension OriginalStore {
  func bodies() throws(DatabaseError) -> BodyFolder {
    if let bodies = state.withLock({ $0.bodies }) { return bodies }
    return try makeBodyFolder()
  }

  /// The writing connection; on the queue.
  ///
  /// - Parameter evenSuspended: For removals, which close the files again.
  private func writing(evenSuspended: Bool) throws(DatabaseError) -> Database {
    if let database = writer.database {
      if try status(of: file)?.identity == writer.identity { return database }
      // A purge of the caches has deleted the folder: it is made anew.
      close()
    }
    let isSuspended = state.withLock { !$0.suspensions.isEmpty }
    if isSuspended, evenSuspended { try connectWriter() } else { try openOnQueue() }
    guard let database = writer.database else {
      throw DatabaseError(.suspended, file, "The store is closed.")
    }
    return database
  }

  /// Closes all files; on the queue.
  func close() {
    let readers = state.withLock { state in
      defer { (state.isOpen, state.readers, state.bodies) = (false, [], nil) }
      return state.readers
    }
    withExtendedLifetime(readers) {}
    for file in writer.files.values { file.close() }
    (writer.files, writer.database) = ([:], nil)
  }

  /// Runs a transaction that excludes all other writers; on the queue.
  @discardableResult
  func transaction<Value>(
    evenSuspended: Bool = false, _ body: (Database) throws(DatabaseError) -> Value
  ) throws(DatabaseError) -> Value {
    do throws(DatabaseError) {
      let database = try writing(evenSuspended: evenSuspended)
      if !writer.hasLookedForLeftovers, state.withLock({ $0.isOpen }) {
        writer.hasLookedForLeftovers = true
        lookForLeftovers()
      }
      try database.run("BEGIN IMMEDIATE")
      do throws(DatabaseError) {
        for (row, body) in writer.unlinked { try delete(row, body, in: database) }
        let value = try body(database)
        try database.run("COMMIT")
        writer.unlinked = []
        return value
      } catch {
        // Refused where the failure has ended the transaction.
        _ = try? database.run("ROLLBACK")
        throw error
      }
    } catch {
      note(error)
      if error.isLasting { close() }
      throw error
    }
  }

  /// Unlinks a body, and then drops its row; in a transaction.
  func remove(_ row: Int64, _ body: UInt64, in database: Database) throws(DatabaseError) {
    try bodies().remove(BodyFolder.name(row: row, body: body))
    writer.unlinked.append((row, body))
    try delete(row, body, in: database)
  }

  /// As `remove`, of an original that this transaction has read: others may have written any body into it.
  func evict(_ row: Int64, _ body: UInt64, in database: Database) throws(DatabaseError) {
    try remove(row, body, in: database)
    try database.run("DELETE FROM original WHERE id = ?", [.integer(row)])
  }

  private func delete(_ row: Int64, _ body: UInt64, in database: Database) throws(DatabaseError) {
    let values: [Database.Value] = [.integer(row), .bits(body)]
    try database.run("DELETE FROM original WHERE id = ? AND body = ?", values)
    try database.run("DELETE FROM download WHERE id = ? AND body = ?", values)
  }

  // MARK: Room

  /// Microseconds after which a transaction leaves its next unlinks to another one, so that others write between
  /// them: an unlink takes 2 ms where other programs use the disk. One at least is done, after any search.
  static let unlinkTime: Int64 = 5000

  /// Evicts until so many bytes more fit, the least recently used first, but only a few: a limit that is lower than
  /// before takes several transactions, so that the log stays small.
  ///
  /// - Returns: Whether they fit.
  func makeRoom(for byteCount: Int, in database: Database) throws(DatabaseError) -> Bool {
    var room = try measureRoom(database)
    if room.excess(adding: byteCount) > 0 {
      for (row, body) in try abandonedDownloads(database) { try remove(row, body, in: database) }
      room = try measureRoom(database)
    }
    let end = now() + Self.unlinkTime
    for turn in 0..<8 where room.excess(adding: byteCount) > 0 && (turn == 0 || now() <= end) {
      var victims: [(row: Int64, body: UInt64, byteCount: Int)] = []
      try database.run("SELECT id, body, size FROM original ORDER BY used LIMIT 8") {
        victims.append(($0.integer(0), $0.bits(1), $0.number(2)))
      }
      guard !victims.isEmpty else {
        throw DatabaseError(.system, directory.path, "There is no room for \(byteCount) bytes.")
      }
      // Uses that the database does not know change the order of the next query.
      let uses = state.withLock { state in
        victims.reduce(into: [:]) { $0[$1.row] = state.uses.removeValue(forKey: $1.row) }
      }
      try write(uses: uses, database)
      for victim in victims where uses.isEmpty && room.excess(adding: byteCount) > 0 {
        try evict(victim.row, victim.body, in: database)
        room.bodies -= Room.rounded(victim.byteCount)
        listeners.send(nil, .evicted)
      }
    }
    return room.excess(adding: byteCount) == 0
  }

  private func measureRoom(_ database: Database) throws(DatabaseError) -> Room {
    Room(
      limit: byteLimit,
      bodies: min(max(0, try database.number("SELECT bytes FROM store")), 1 << 50),
      pages: try database.number("PRAGMA page_count") * OriginalSchema.pageByteCount,
      log: try status(of: file + "-wal")?.byteCount ?? 0)
  }

  /// The downloads whose writers are gone.
  private func abandonedDownloads(
    _ database: Database
  ) throws(DatabaseError) -> [(row: Int64, body: UInt64)] {
    var found = try bodies("SELECT id, body FROM download", [], in: database)
    found.removeAll { writer.files[$0.body] != nil }
    var abandoned: [(row: Int64, body: UInt64)] = []
    for (row, body) in found
    where try !bodies().isBeingWritten(BodyFolder.name(row: row, body: body)) {
      abandoned.append((row, body))
    }
    return abandoned
  }

  /// The rows and bodies that a statement finds.
  func bodies(
    _ sql: String, _ values: [Database.Value], in database: Database
  ) throws(DatabaseError) -> [(row: Int64, body: UInt64)] {
    var found: [(row: Int64, body: UInt64)] = []
    try database.run(sql, values) { found.append(($0.integer(0), $0.bits(1))) }
    return found
  }

  // MARK: Left-overs

  /// Seconds for which an unfinished download can be continued.
  static let downloadLifetime: Int64 = 7 * 86_400

  /// Deletes what kills and power cuts have left: files without rows, and downloads that nobody can continue.
  /// Looks beside the queue, at each name once.
  private func lookForLeftovers() {
    DispatchQueue.global(qos: .utility).async(group: readings) { [self] in
      guard let bodies = state.withLock({ $0.bodies }) else { return }
      var suspects: [(row: Int64, body: UInt64)] = []
      _ = try? reading { database throws(DatabaseError) in
        try bodies.forEachName { name in
          if let (row, body) = BodyFolder.numbers(name), !isKnown(row, body, in: database) {
            suspects.append((row, body))
          }
        }
      }
      enqueue { [self, suspects] () throws(DatabaseError) in try removeLeftovers(suspects) }
    }
  }

  private func removeLeftovers(_ suspects: [(row: Int64, body: UInt64)]) throws(DatabaseError) {
    var rest = suspects
    let isDone = try transaction { database throws(DatabaseError) in
      let (bodies, end) = (try bodies(), now() + Self.unlinkTime)
      while let (row, body) = rest.popLast() {
        // Asked anew, while no process is between a file and its row.
        if !isKnown(row, body, in: database) {
          try bodies.remove(BodyFolder.name(row: row, body: body))
        }
        if now() > end { break }
      }
      if !rest.isEmpty { return false }
      for (row, body) in try abandonedDownloads(database) {
        let isUseful = try database.number(
          "SELECT count(*) FROM download WHERE body = ? AND whole > 0 AND stored > ?",
          [.bits(body), .integer(now() / 1_000_000 - Self.downloadLifetime)])
        if isUseful == 0 { try remove(row, body, in: database) }
      }
      // The limit may be lower than before.
      return try makeRoom(for: 0, in: database)
    }
    if isDone { return }
    enqueue { [self, rest] () throws(DatabaseError) in try removeLeftovers(rest) }
  }

  /// Whether a body has a row, or the database cannot tell.
  private func isKnown(_ row: Int64, _ body: UInt64, in database: Database) -> Bool {
    let count = try? database.number(
      """
      SELECT EXISTS (SELECT 1 FROM original WHERE id = ?1 AND body = ?2)
        OR EXISTS (SELECT 1 FROM download WHERE body = ?2)
      """, [.integer(row), .bits(body)])
    return count != 0
  }
}
