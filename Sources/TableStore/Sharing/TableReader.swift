import Locking

/// Reads a table file that another process may be writing, by copying slots and checking every
/// byte.
///
/// It takes no lock on the file and changes nothing in it. It serves second openers, and tools that look into a
/// directory without knowing its tables. Nothing keeps a slot as it is while this reads it, so a record is read
/// again where the owner takes a lease; a copy that a writer tore does not match the hash in its record.
///
/// Invariant: the snapshot only guesses where an image may be; every image handed out was
/// checked against a record read after the lookup began.
package final class TableReader: Sendable {
  struct Snapshot {
    var file: ReadableFile
    /// Of each entity the image that was stored last.
    var images: [TableID.Digest: SlotReader.Found]
    /// Misses left before the records are read again; their number spreads the cost of reading them
    /// all.
    var missesUntilReading = 0

    init(_ file: ReadableFile, _ records: [SlotReader.Found]) {
      self.file = file
      images = SlotReader.newestPerEntity(records)
      postponeReading()
    }

    mutating func postponeReading() { missesUntilReading = images.count / 512 }

    var newestGeneration: UInt64 { images.values.reduce(0) { max($0, $1.record.generation) } }
  }

  private let directory: TableDirectory
  private let fileName: String
  private let expectation: ReadableFile.Expectation?
  private let system: SystemCalls
  let pool: PrivateSlots
  let snapshot: Lock<Snapshot>
  private let tombstones = Lock(Tombstones())
  private let stale = Lock<[TableID.Digest: UInt64]>([:])

  /// Opens a table for reading; `nil` when there is none, or none as expected.
  static func open(
    _ fileName: String, in directory: TableDirectory,
    expecting expectation: ReadableFile.Expectation?, system: SystemCalls
  ) throws(SystemError) -> TableReader? {
    let file = try ReadableFile.open(
      fileName, in: directory, expecting: expectation, system: system)
    guard let file else { return nil }
    return TableReader(
      fileName, directory, expectation, system,
      snapshot: Snapshot(file, try file.slotReader.records()))
  }

  private init(
    _ fileName: String, _ directory: TableDirectory, _ expectation: ReadableFile.Expectation?,
    _ system: SystemCalls, snapshot: Snapshot
  ) {
    self.directory = directory
    self.fileName = fileName
    self.expectation = expectation
    self.system = system
    pool = PrivateSlots(layout: snapshot.file.header.layout)
    self.snapshot = Lock(snapshot)
  }

  /// Frees the buffers that are kept for the next images.
  func freeSpareBuffers() { pool.freeSpareBuffers() }

  /// The readable name that the table was opened with.
  package var name: String { file.header.name }
  package var geometry: TableGeometry { file.header.layout.geometry }
  package var slotCount: Int { file.header.layout.slotCount }
  package var slotByteCount: Int { file.header.layout.stride }

  /// Images that had a record when the records were last read.
  package var entryCount: Int { snapshot.withLock { $0.images.count } }

  /// Bytes of the file on its device, 0 when the system does not tell.
  package var diskByteCount: Int { file.slotReader.diskByteCount }

  /// Reads the image of an entity, whichever version is there.
  package func entry(of entity: TableID) -> TableEntry? {
    copy(of: entity).map { TableEntry(content: $0.content, extent: $0.trailer.extent) }
  }

  /// The record of the entity's image, marked stale or not.
  ///
  /// - Parameter version: `nil` for whichever.
  func record(of entity: TableID, version: TableID? = nil) -> SlotRecord? {
    asking {
      guard let record = candidate(for: entity)?.record else { return nil }
      return record.version == version?.digest ?? record.version ? record : nil
    }
  }

  /// Reads the slot of an entity's image.
  func copy(
    of entity: TableID, where isWanted: (SlotRecord, SlotTrailer) -> Bool = { _, _ in true }
  ) -> SlotCopy? {
    asking { readCopy(of: entity, where: isWanted) }
  }

  // MARK: Guests

  /// The generation of the latest store that the last snapshot knows.
  var newestGeneration: UInt64 { snapshot.withLock { $0.newestGeneration } }

  /// True when the last snapshot has a later image of the record's entity.
  func hasNewer(than record: SlotRecord) -> Bool {
    snapshot.withLock { snapshot in
      snapshot.images[record.entity]?.record.generation ?? 0 > record.generation
    }
  }

  /// The removals that the owner's file remembers, after reading its records again.
  ///
  /// The owner may be writing. It overwrites a removal only after a later entry covers that, so the
  /// log is whole when it reads the same twice.
  func removals() throws(SystemError) -> RemovalLog {
    var former: RemovalLog?
    for _ in 0..<16 {
      let file = try refresh().file
      let log = try file.slotReader.removals()
      if log.entries == former?.entries, try !file.isReplaced() { return log }
      former = log
    }
    throw .lostRaces
  }

  // MARK: Tombstones

  /// Makes a miss of one image; false if it is one already, or if another took its place.
  ///
  /// - Parameter isOwn: The listed image was this process's own, and hid the one in the file, which
  ///   must not come to light.
  func addTombstone(for listed: TableEntryInfo, isOwn: Bool) -> Bool {
    let known = snapshot.withLock { $0.images[listed.digest]?.record }
    guard let known, isOwn || known.generation == listed.generation, !hasTombstone(known)
    else { return false }
    addTombstone(for: known)
    return true
  }

  /// Makes misses of a subject's images that are in the file now, or are taken in later and were
  /// drawn before, without changing the file.
  ///
  /// Returns true when there was one to be found. Throws when the file cannot be read, and then
  /// adds no tombstone.
  ///
  /// - Parameter generation: Of the removal.
  func addTombstone(
    for subject: RemovalLog.Subject, upTo generation: UInt64
  ) throws(SystemError) -> Bool {
    let records = try refresh().images.values.map(\.record)
    let found = records.filter { subject == .all || subject == .entity($0.entity) }
    return tombstones.withLock { tombstones in
      let isThere = found.contains { !tombstones.removals.covers($0) }
      tombstones.removals.note(subject, upTo: found.reduce(generation) { max($0, $1.generation) })
      if isThere || subject == .all { tombstones.coverRecords = true }
      return isThere
    }
  }

  /// Makes a miss of one record's image, and of the entity's older ones.
  func addTombstone(for record: SlotRecord) {
    tombstones.withLock {
      $0.removals.note(.entity(record.entity), upTo: record.generation)
      $0.coverRecords = true
    }
  }

  /// True when a tombstone covers the record; a new owner erases it.
  func hasTombstone(_ record: SlotRecord) -> Bool {
    tombstones.withLock { $0.removals.covers(record) }
  }

  /// Makes misses of the images that were stored up to a generation, each of its entity; they are found by
  /// their entity only.
  func setStale(_ marks: [TableID.Digest: UInt64]) { stale.withLock { $0 = marks } }

  /// True when the record's image is a miss, because it was marked stale.
  func isStale(_ record: SlotRecord) -> Bool {
    stale.withLock { $0[record.entity].map { record.generation <= $0 } ?? false }
  }

  /// True when no tombstone was added.
  var hasNoTombstones: Bool { tombstones.withLock { $0.removals.isEmpty } }

  /// True when a new owner may have records to erase.
  var hasTombstones: Bool { tombstones.withLock { $0.coverRecords } }

  // MARK: Private

  /// Removals that the file does not have, each up to a generation: images stored later have
  /// higher ones, in every file of the table (`TableWriter.generation`).
  private struct Tombstones {
    var removals = Removals()
    /// True when the owner's file had a record that one of them covers.
    var coverRecords = false
  }

  var file: ReadableFile { snapshot.withLock { $0.file } }

  /// The answer by the last snapshot, or by a new one.
  private func asking<Answer>(_ question: () -> Answer?) -> Answer? {
    question() ?? (refreshIfWorthwhile() ? question() : nil)
  }

  private func readCopy(
    of entity: TableID, where isWanted: (SlotRecord, SlotTrailer) -> Bool
  ) -> SlotCopy? {
    // A status that cannot be read is no sign of a replacement.
    guard let (file, slot, _) = candidate(for: entity), (try? file.isReplaced()) != true else {
      return nil
    }
    // The owner may have written the slot since the snapshot, so its record is read again. A
    // record that cannot be read is a miss like any other.
    guard let record = (try? file.slotReader.record(of: slot)) ?? nil,
      record.entity == entity.digest, !hasTombstone(record),
      let (content, finding) = pool.makeContent({
        file.slotReader.read(slot, record: record, into: $0)
      }),
      let trailer = finding.trailer, trailer.entity.matches(entity), isWanted(record, trailer)
    else { return nil }
    return SlotCopy(content: content, record: record, trailer: trailer)
  }

  private func candidate(
    for entity: TableID
  ) -> (file: ReadableFile, slot: Int, record: SlotRecord)? {
    let digest = entity.digest
    let found = snapshot.withLock { snapshot -> (ReadableFile, Int, SlotRecord)? in
      snapshot.images[digest].map { (snapshot.file, $0.slot, $0.record) }
    }
    guard let found, !hasTombstone(found.2) else { return nil }
    return found
  }

  /// Reads the records again at some of the misses; false at the others. The file's time of change
  /// would be cheaper, but two changes may share it.
  private func refreshIfWorthwhile() -> Bool {
    let postpones = snapshot.withLock { snapshot in
      snapshot.missesUntilReading -= 1
      return snapshot.missesUntilReading > 0
    }
    guard !postpones else { return false }
    do throws(SystemError) {
      try refresh()
      return true
    } catch {
      // Records that cannot be read now are misses now.
      snapshot.withLock { $0.postponeReading() }
      return false
    }
  }

  /// Reads the records again, of the file that has the name now.
  @discardableResult
  func refresh() throws(SystemError) -> Snapshot {
    var file = self.file
    // Each turn loses a race against an owner that replaces the file; sixteen in a row is an error.
    for _ in 0..<16 {
      var found = try file.slotReader.records()
      // Asked after reading: the records of a replaced file are not the table's any more.
      if try file.isReplaced() {
        if let newer = try newerFile(than: file) {
          file = newer
          continue
        }
        found = []
      }
      let fresh = Snapshot(file, found)
      snapshot.withLock { $0 = fresh }
      return fresh
    }
    throw .lostRaces
  }

  private func newerFile(than file: ReadableFile) throws(SystemError) -> ReadableFile? {
    let newer = try ReadableFile.open(
      fileName, in: directory, expecting: expectation, system: system)
    guard let newer, newer.header.layout.hasSameSlots(as: file.header.layout) else { return nil }
    return newer
  }
}
