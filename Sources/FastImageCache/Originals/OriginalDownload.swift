import Foundation
import ImageSources
import Locking
import OriginalDatabase
import TableStore

/// The file of a body that is coming, whose row reserves all of its bytes; used on the store's queue only.
///
/// `@unchecked Sendable` is safe because of that.
final class BodyFile: @unchecked Sendable {
  /// With the bytes that are whole, and their checksum.
  var original: OriginalRecord
  /// Holds the lock that tells other processes of the writer; `nil` once it is closed.
  private var descriptor: FileDescriptor?

  init(_ original: OriginalRecord, _ descriptor: consuming FileDescriptor) {
    self.original = original
    self.descriptor = consume descriptor
  }

  func close() { descriptor = nil }

  /// Writes bytes behind the whole ones, by blocks; the last one may be shorter.
  func append(_ bytes: Data, in bodies: BodyFolder) throws(DatabaseError) {
    guard let file = descriptor?.value else {
      throw DatabaseError(.suspended, bodies.path, "The file was closed.")
    }
    for start in stride(from: 0, to: bytes.count, by: Checksum.blockByteCount) {
      let block = bytes.dropFirst(start).prefix(Checksum.blockByteCount)
      try block.withUnsafeBytes { block in
        Result { () throws(DatabaseError) in
          try bodies.write(block, to: file, at: original.wholeByteCount)
          original.checksum = Checksum.adding(block, to: original.checksum)
          original.wholeByteCount += block.count
        }
      }.get()
    }
  }

  /// Whether these are all of the bytes, and the whole ones their first.
  func isStart(of bytes: Data) -> Bool {
    guard bytes.count == original.byteCount, descriptor != nil else { return false }
    return bytes.prefix(original.wholeByteCount).withUnsafeBytes {
      Checksum.of($0, body: original.body) == original.checksum
    }
  }
}

/// One load's file of an original that is still coming: whole blocks are written as they arrive, and a later load
/// goes on from there. The network never waits for a write.
///
/// Invariants:
/// 1. All but `given` and `body` is used in jobs of the store's queue, in the order of the calls.
/// 2. A file is of one answer of the server, and has one writer, by its lock.
/// 3. A load that a removal has forbidden leaves nothing.
///
/// `@unchecked Sendable` is safe by invariant 1.
package final class OriginalDownload: @unchecked Sendable {
  private let store: OriginalStore
  private let load: OriginalLoad
  private var original: OriginalRecord
  private var file: BodyFile?
  /// Whether the load's part is over. The thread that brings the bytes may be late with the last ones.
  private var isOver = false
  /// The bytes that were given to the queue; none more once no further block is written.
  private let given = Lock(0)
  /// What tells the bytes from others: in the file, and in the original that is held of them.
  let body: Lock<UInt64>

  /// - Parameter original: Its bytes are counted when an answer begins.
  init(_ original: OriginalRecord, _ load: OriginalLoad, in store: OriginalStore) {
    (self.original, self.load, self.store) = (original, load, store)
    body = Lock(original.body)
  }

  /// What an earlier load has left; no other load gets it while this one goes on.
  func known() async -> KnownOriginal? {
    guard store.hasDownload(of: original.name) else { return nil }
    return try? await store.run { [self] () throws(DatabaseError) in
      guard let (found, bytes) = try store.takeDownload(of: original.name) else { return nil }
      file = found
      given.withLock { $0 = bytes.count }
      body.withLock { $0 = found.original.body }
      return KnownOriginal(
        terms: found.original.terms, bytes: bytes, isWhole: bytes.count == found.original.byteCount)
    }
  }

  /// Begins another answer.
  ///
  /// - Parameters:
  ///   - terms: Those of the answer; nothing is written where a later load may not continue it.
  ///   - continues: Whether it goes on with what is known; otherwise all that is known goes.
  func begin(_ terms: ResponseMetadata, continues: Bool) {
    let isWritten = terms.mayBeContinued && terms.mayBeKept
    given.withLock { $0 = isWritten ? (continues ? $0 : 0) : .max }
    let number = body.withLock { body in
      if !continues { body = .random(in: .min ... .max) }
      return body
    }
    let hasOlder = !continues && store.hasDownload(of: original.name)
    store.enqueue { [self] () throws(DatabaseError) in
      (original.byteCount, original.terms) = (terms.byteCount ?? 0, terms)
      original.body = number
      if continues { return }
      if let file = file.take() { store.discard(file) }
      while hasOlder, let (older, _) = try store.takeDownload(of: original.name) {
        store.discard(older)
      }
    }
  }

  /// Has the blocks written that are whole now; returns at once.
  func grow(to byteCount: Int, of arrival: DownloadBuffer) {
    while let block = nextBlock(before: byteCount), let bytes = arrival.copy(block) {
      store.enqueue { [self] () throws(DatabaseError) in write(bytes, at: block.lowerBound) }
    }
  }

  private func nextBlock(before byteCount: Int) -> Range<Int>? {
    given.withLock { given in
      guard given <= byteCount - Checksum.blockByteCount else { return nil }
      defer { given += Checksum.blockByteCount }
      return given..<given + Checksum.blockByteCount
    }
  }

  private func write(_ block: Data, at offset: Int) {
    guard !isOver, store.allows(load), offset == file?.original.wholeByteCount ?? 0 else { return }
    do throws(DatabaseError) {
      let file = if let file { file } else { try store.makeFile(original) }
      self.file = file
      try file.append(block, in: store.bodies())
      try store.noteProgress(file)
    } catch {
      // A full disk, or no room: the download goes on in memory.
      stop()
      if let file = file.take() { store.discard(file) }
    }
  }

  /// Writes no further block: all bytes are there, and the rest is written with the whole.
  func stop() { given.withLock { $0 = .max } }

  /// The file for the whole original, if it has its first bytes; on the queue.
  func takeFile(for bytes: Data) -> BodyFile? {
    guard let file = file.take() else { return nil }
    if file.isStart(of: bytes) { return file }
    store.discard(file)
    return nil
  }

  /// Ends the load's part, behind its blocks.
  ///
  /// - Parameter keeps: Whether a later load may go on from here.
  func end(keeps: Bool) {
    store.enqueue { [self] () throws(DatabaseError) in
      isOver = true
      guard let file = file.take() else { return }
      // What is held is written anew, to a file of the same name.
      let isHeld = store.state.withLock { [name = original.name, body = file.original.body] in
        $0.held[name]?.original.body == body
      }
      if keeps, !isHeld, file.original.wholeByteCount > 0, store.allows(load) {
        store.writer.files[file.original.body] = nil
        file.close()
      } else {
        store.discard(file)
      }
    }
  }
}

extension OriginalStore {
  /// Whether a load may still keep what it fetches.
  func allows(_ load: OriginalLoad) -> Bool { state.withLock { $0.allows(load) } }

  private static let isContinuable = "\(OriginalName.isName) AND whole > 0 AND stored > ?"

  private func continuable(_ name: OriginalName) -> [Database.Value] {
    name.values + [.integer(now() / 1_000_000 - Self.downloadLifetime)]
  }

  /// Whether an unfinished download of a name is there; a lookup on the calling thread.
  func hasDownload(of name: OriginalName) -> Bool {
    let count = try? reading { database throws(DatabaseError) in
      try database.number(
        "SELECT EXISTS (SELECT 1 FROM download WHERE \(Self.isContinuable))", continuable(name))
    }
    return count ?? 0 != 0
  }

  /// Takes over an unfinished download of a writer that is gone, with its checked bytes; on the queue.
  func takeDownload(
    of name: OriginalName
  ) throws(DatabaseError) -> (file: BodyFile, bytes: Data)? {
    // A transaction, in which no other store asks for the lock to see whether a writer lives.
    let taken = try transaction {
      database throws(DatabaseError) -> (file: BodyFile, bytes: Data)? in
      var found: [OriginalRecord] = []
      try database.run(
        """
        SELECT \(OriginalSchema.all) FROM download WHERE \(Self.isContinuable)
        ORDER BY whole DESC
        """, continuable(name)
      ) { found.append(OriginalRecord($0)) }
      let bodies = try bodies()
      for original in found where writer.files[original.body] == nil {
        let file = BodyFolder.name(row: name.row, body: original.body)
        guard let descriptor = try bodies.take(file) else { continue }
        var isDamaged = false
        if let bytes = try read(original.row, in: bodies, isDamaged: &isDamaged) {
          return (BodyFile(original, descriptor), bytes)
        }
        try remove(name.row, original.body, in: database)
      }
      return nil
    }
    if let taken { writer.files[taken.file.original.body] = taken.file }
    return taken
  }
}
