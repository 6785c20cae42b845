import Locking

/// Reads a table file that somebody else may be writing, by copying slots and checking every byte.
///
/// A copy that was torn by a writer does not match the hash in its record, so it is a miss. No lock
/// is taken, and nothing in the file changes. It serves those who open a table that another process
/// owns, and those who look into a directory without knowing the tables.
///
/// Invariant: the snapshot is only a guess at where a picture may be; what is handed out was
/// checked against a record read after the question was asked.
package final class TableReader: Sendable {
  private struct Snapshot {
    var file: ReadableFile
    var table: DigestTable
    var records: [Int: SlotRecord]
    /// Misses to pass before the records are read again, so that reading them all is spread over
    /// enough misses to cost each little.
    var patience = 0

    mutating func bePatient() { patience = records.count / 512 }

    var newestGeneration: UInt64 { records.values.reduce(0) { max($0, $1.generation) } }

    func slot(of entity: TableID.Digest) -> Int? {
      table.slot(for: entity) { records[$0]?.entity == entity }
    }
  }

  private let directory: TableDirectory
  private let fileName: String
  private let expectation: ReadableFile.Expectation?
  private let system: SystemCalls
  private let pool: SlotBufferPool
  private let snapshot: Lock<Snapshot>
  private let tombstones = Lock(Tombstones())

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
      snapshot: snapshot(of: file, try file.reader.records()))
  }

  private init(
    _ fileName: String, _ directory: TableDirectory, _ expectation: ReadableFile.Expectation?,
    _ system: SystemCalls, snapshot: Snapshot
  ) {
    self.directory = directory
    self.fileName = fileName
    self.expectation = expectation
    self.system = system
    pool = SlotBufferPool(layout: snapshot.file.header.layout)
    self.snapshot = Lock(snapshot)
  }

  /// The readable name that the table was opened with.
  package var name: String { file.header.name }
  package var geometry: TableGeometry { file.header.layout.geometry }
  package var slotCount: Int { file.header.layout.slotCount }

  /// Bytes of the file on its device, 0 when nobody can tell.
  package var diskByteCount: Int {
    // A figure for people; that it cannot be had is no reason to fail.
    (try? system.status(of: file.descriptor))?.diskByteCount ?? 0
  }

  /// Reads the picture of a key, as private memory.
  func entry(for key: TableKey) -> TableEntry? {
    entry(of: key.entity) { record, trailer in
      record.version == key.version.digest && trailer.matches(key)
    }
  }

  /// Reads the picture of an entity, whichever version is there.
  package func entry(of entity: TableID) -> TableEntry? {
    entry(of: entity) { _, trailer in trailer.entity.matches(entity) }
  }

  /// True when there is a record for the key.
  func contains(_ key: TableKey) -> Bool {
    let isThere = { [self] in candidate(for: key.entity)?.record.version == key.version.digest }
    if isThere() { return true }
    return refreshIfWorthwhile() && isThere()
  }

  /// All pictures that are intact, and all slots that are not, both in the order of slots; reads the
  /// whole file.
  package func scan() -> (entries: [TableEntryInfo], damages: [TableDamage]) {
    // What was read before is looked at again where the file cannot be read now.
    _ = try? refresh()
    let (file, records) = snapshot.withLock { ($0.file, $0.records) }
    var entries: [TableEntryInfo] = []
    var damages: [TableDamage] = []
    for (slot, record) in records.sorted(by: { $0.key < $1.key }) {
      let finding = pool.makeContent { file.reader.read(slot, record: record, into: $0) }
      switch finding?.result {
      case .intact(let trailer)?:
        entries.append(TableEntryInfo(slot: slot, trailer: trailer, recency: record.recency))
      case .damaged(let entity)?:
        // An owner at work may have reused the slot meanwhile, which is no damage.
        let current = (try? file.reader.record(of: slot)) ?? nil
        if current?.generation == record.generation {
          damages.append(TableDamage(slot: slot, entity: entity))
        }
      case .refused?, nil:
        continue
      }
    }
    return (entries, damages)
  }

  // MARK: Tombstones

  /// Makes misses of an entity's pictures that are in the file now; the file is another's to change.
  ///
  /// Returns true when there was one to be found. Throws when the file cannot be read: nothing is
  /// buried then.
  func addTombstone(for entity: TableID) throws(SystemError) -> Bool {
    let fresh = try refresh()
    guard let slot = fresh.slot(of: entity.digest), let record = fresh.records[slot] else {
      return false
    }
    return tombstones.withLock { tombstones in
      if tombstones.covers(record) { return false }
      tombstones.add(for: record.entity, upTo: record.generation)
      return true
    }
  }

  /// Makes a miss of one record's picture, and of the entity's older ones.
  func addTombstone(for record: SlotRecord) {
    tombstones.withLock { $0.add(for: record.entity, upTo: record.generation) }
  }

  /// Makes misses of all pictures that are in the file now; throws as `addTombstone(for:)` does.
  func addTombstonesForAll() throws(SystemError) {
    let newest = try refresh().newestGeneration
    tombstones.withLock { $0.newestOfAll = max($0.newestOfAll, newest) }
  }

  /// True when the record is one of those buried, which a new owner then erases.
  func isBuried(_ record: SlotRecord) -> Bool { tombstones.withLock { $0.covers(record) } }

  /// True when there may be records that a new owner has to erase.
  var hasTombstones: Bool { tombstones.withLock { !$0.entities.isEmpty || $0.newestOfAll > 0 } }

  // MARK: Private

  /// Pictures that were removed here but not in the file, by the generations they go up to: those of
  /// pictures stored later are higher, in whatever file (`TableWriter.generation`).
  private struct Tombstones {
    private(set) var entities: [TableID.Digest: UInt64] = [:]
    var newestOfAll: UInt64 = 0

    mutating func add(for entity: TableID.Digest, upTo generation: UInt64) {
      entities[entity] = max(entities[entity] ?? 0, generation)
    }

    func covers(_ record: SlotRecord) -> Bool {
      record.generation <= max(newestOfAll, entities[record.entity] ?? 0)
    }
  }

  private var file: ReadableFile { snapshot.withLock { $0.file } }

  private func entry(
    of entity: TableID, where isWanted: (SlotRecord, SlotTrailer) -> Bool
  ) -> TableEntry? {
    if let entry = copy(of: entity, where: isWanted) { return entry }
    return refreshIfWorthwhile() ? copy(of: entity, where: isWanted) : nil
  }

  private func copy(
    of entity: TableID, where isWanted: (SlotRecord, SlotTrailer) -> Bool
  ) -> TableEntry? {
    // A status that cannot be had is no sign of a replacement.
    guard let (file, slot, _) = candidate(for: entity), (try? file.isReplaced()) != true else {
      return nil
    }
    // The owner may have written the slot since the snapshot, so its record is read again. A
    // record that cannot be read is a miss like any other.
    guard let record = (try? file.reader.record(of: slot)) ?? nil,
      record.entity == entity.digest, !tombstones.withLock({ $0.covers(record) }),
      let (content, finding) = pool.makeContent({
        file.reader.read(slot, record: record, into: $0)
      }),
      let trailer = finding.trailer, isWanted(record, trailer)
    else { return nil }
    return TableEntry(content: content, extent: trailer.extent)
  }

  private func candidate(
    for entity: TableID
  ) -> (file: ReadableFile, slot: Int, record: SlotRecord)? {
    let digest = entity.digest
    let found = snapshot.withLock { snapshot -> (ReadableFile, Int, SlotRecord)? in
      guard let slot = snapshot.slot(of: digest), let record = snapshot.records[slot] else {
        return nil
      }
      return (snapshot.file, slot, record)
    }
    guard let found, !tombstones.withLock({ $0.covers(found.2) }) else { return nil }
    return found
  }

  /// Reads the records again at some of the misses; tells whether. The time of the last change
  /// would be cheaper to ask for, but two changes may share it.
  private func refreshIfWorthwhile() -> Bool {
    let isPatient = snapshot.withLock { snapshot in
      snapshot.patience -= 1
      return snapshot.patience > 0
    }
    guard !isPatient else { return false }
    do throws(SystemError) {
      try refresh()
      return true
    } catch {
      // What cannot be read now is a miss now.
      snapshot.withLock { $0.bePatient() }
      return false
    }
  }

  /// Reads the records again, of the file that has the name now.
  @discardableResult
  private func refresh() throws(SystemError) -> Snapshot {
    var file = self.file
    // Each turn loses a race against an owner who replaces the file; nobody loses this often.
    for _ in 0..<16 {
      var found = try file.reader.records()
      // Asked after reading: what is in a file that was replaced is not the table's any more.
      if try file.isReplaced() {
        if let newer = try newerFile(than: file) {
          file = newer
          continue
        }
        found = []
      }
      let fresh = Self.snapshot(of: file, found)
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

  private static func snapshot(
    of file: ReadableFile, _ found: [(slot: Int, record: SlotRecord)]
  ) -> Snapshot {
    var table = DigestTable(minimumCapacity: found.count)
    var records: [Int: SlotRecord] = [:]
    for (slot, record) in found {
      if let rival = table.slot(for: record.entity, where: { records[$0]?.entity == record.entity })
      {
        guard record.generation > records[rival]?.generation ?? 0 else { continue }
        table.remove(rival, for: record.entity)
        records[rival] = nil
      }
      table.insert(slot, for: record.entity)
      records[slot] = record
    }
    var snapshot = Snapshot(file: file, table: table, records: records)
    snapshot.bePatient()
    return snapshot
  }
}

extension TableDirectory {
  /// Opens every table in the directory for reading, whoever owns it, in the order of file names.
  package func tables() throws(TableError) -> [TableReader] {
    // Why a file cannot be read makes no difference to those who only look.
    try tableFileNames().compactMap {
      (try? TableReader.open($0, in: self, expecting: nil, system: system)) ?? nil
    }
  }
}
