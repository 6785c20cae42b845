public import Foundation
import Locking
package import OriginalDatabase
import TableStore

extension OriginalStore {
  /// The original's bytes, each checked; `nil` when it is not there.
  ///
  /// Of several variants it is the one that has the most pixels. Cost: one read of the file, on one of the
  /// store's two reading threads. Counts as a use.
  ///
  /// - Parameters:
  ///   - id: ``ImageEntity/originalID(for:)``, which is the URL by default.
  ///   - audience: The one that it was loaded for.
  /// - Throws: As ``open()``, and ``ImageCacheError/cancelled``.
  public func bytes(
    of id: ImageID, for audience: Audience = .everyone
  ) async throws(ImageCacheError) -> Data? {
    try await open()
    return try await onReader(Urgency(.current)) { [self] () throws(DatabaseError) in
      try largest(of: id, OriginalName.account(audience)).flatMap {
        original throws(DatabaseError) in
        try bytes(of: original)
      }
    }
  }

  /// Writes a checked copy of the original, and nothing else, to a file.
  ///
  /// The copy is written beside the file and takes its place when it is whole. A link at the path is
  /// replaced. Counts as a use.
  ///
  /// - Parameters:
  ///   - id: As in ``bytes(of:for:)``.
  ///   - audience: The one that it was loaded for.
  ///   - file: A file URL, in a folder that exists.
  /// - Returns: Whether the original is there.
  /// - Throws: As ``bytes(of:for:)``; the file is as it was then.
  public func copyFile(
    of id: ImageID, for audience: Audience = .everyone, to file: URL
  ) async throws(ImageCacheError) -> Bool {
    guard file.isFileURL else { throw .storageUnavailable("\(file.abbreviated) is no file URL") }
    guard let bytes = try await bytes(of: id, for: audience) else { return false }
    let path = file.path
    try await onReader(Urgency(.current)) { [system] () throws(DatabaseError) in
      try BodyFolder.write(bytes, toFile: path, system)
    }
    return true
  }

  /// All originals and unfinished downloads, in no order; reads no pictures, and is no use of them.
  ///
  /// - Throws: As ``open()``, and ``ImageCacheError/cancelled``.
  public func inspect() async throws(ImageCacheError) -> [Original] {
    try await open()
    let found = try await onReader(Urgency(.current)) { [self] () throws(DatabaseError) in
      try reading { database throws(DatabaseError) in try Self.list(database) }
    }
    return (found ?? []).map { Original(record: $0, isFresh: freshness(of: $0) == .fresh) }
  }

  /// The originals in the folder of a store, whether some process has it open or not; none where there is no
  /// store. Otherwise as ``inspect()``, by the default ``Lifetime``.
  ///
  /// - Parameter directory: The store's; by default that of the default store.
  public static func inspect(directory: URL?) async throws(ImageCacheError) -> [Original] {
    let store = OriginalStore(directory: directory, byteLimit: .max)
    return isStore(store.directory) ? try await store.inspect() : []
  }

  /// Whether the bytes of an original, or what has arrived of it, are those that were written; no use of it.
  package func isIntact(_ original: Original) async throws(ImageCacheError) -> Bool {
    try await onReader(Urgency(.current)) { [self] () throws(DatabaseError) in
      var isDamaged = false
      return try read(original.record, in: bodies(), isDamaged: &isDamaged) != nil
    }
  }

  /// Whether a download for everyone broke off, so that the next load of the address can continue it.
  package func hasPartial(of address: ImageID) async -> Bool {
    // A store that is locked tells the load that follows.
    try? await prepare()
    return hasDownload(of: OriginalName(id: address, address: address))
  }

  /// Whether a folder has a store.
  package static func isStore(_ directory: URL) -> Bool {
    (try? SystemCalls.live.status(ofPath: file(in: directory)))??.isRegularFile == true
  }

  private static func list(_ database: Database) throws(DatabaseError) -> [OriginalRecord] {
    var found: [OriginalRecord] = []
    var count: Int
    repeat {
      count = found.count
      // In pieces, since a reader keeps the log from being copied back.
      try database.run(
        "SELECT \(OriginalRecord.columns) FROM original WHERE id > ? ORDER BY id LIMIT 256",
        [.integer(found.last?.name.row ?? .min)]
      ) { found.append(OriginalRecord($0)) }
    } while found.count > count
    try database.run("SELECT \(OriginalRecord.columns) FROM download") {
      found.append(OriginalRecord($0))
    }
    return found
  }

  // MARK: Lookups

  func look(_ query: OriginalQuery) -> KeptOriginal? {
    guard let original = lookUp(query) else { return nil }
    return KeptOriginal(
      freshness: freshness(of: original), isPlaceholder: original.isPlaceholder,
      owner: original.owner)
  }

  /// A lookup in the database on the calling thread, under no lock; its errors are misses. Another address's
  /// original answers only while it is fresh: its server cannot be asked about it.
  package func lookUp(_ query: OriginalQuery) -> OriginalRecord? {
    func isVariant(_ other: OriginalRecord) -> Bool {
      query.mayTake(other) && freshness(of: other) == .fresh
    }
    let held = state.withLock { $0.held }
    let own = held[query.name]
    if let own, own.bytes != nil { return isGone(own.original) ? nil : own.original }
    if let variant = held.values.first(where: { $0.bytes != nil && isVariant($0.original) }) {
      return variant.original
    }
    return try? reading { database throws(DatabaseError) in
      if own == nil, let kept = try find(query.name, in: database), !isGone(kept) { return kept }
      var found: OriginalRecord?
      try database.run(
        """
        SELECT \(OriginalRecord.columns) FROM original
        WHERE \(Self.isVariant) AND address IS NOT ? ORDER BY width * height
        """, Self.variants(query.name.id, query.name.account) + [.id(query.name.address.tableID)]
      ) { row in
        guard found == nil else { return }
        let other = OriginalRecord(row)
        if isVariant(other) { found = other }
      }
      return found
    } ?? nil
  }

  private func isGone(_ original: OriginalRecord) -> Bool { freshness(of: original) == .gone }

  func freshness(of original: OriginalRecord) -> Freshness {
    let use = state.withLock { $0.uses[original.name.row] } ?? original.lastUse
    return rule.freshness(
      of: original.freshness, stored: original.stored, lastUse: use / 1_000_000,
      now: now() / 1_000_000)
  }

  private static let isVariant = "variants = ? AND account IS ? AND ifnull(key, address) IS ?"

  private static func variants(_ id: ImageID, _ account: ImageID) -> [Database.Value] {
    [.integer(OriginalName.variants(id, account)), .id(account.tableID), .id(id.tableID)]
  }

  /// The original of a name itself.
  func find(
    _ name: OriginalName, in database: Database
  ) throws(DatabaseError) -> OriginalRecord? {
    var found: OriginalRecord?
    try database.run(
      """
      SELECT \(OriginalRecord.columns) FROM original
      WHERE id = ? AND account IS ? AND ifnull(key, address) IS ? AND address IS ?
      """, name.values
    ) { found = OriginalRecord($0) }
    return found
  }

  private func largest(
    of id: ImageID, _ account: ImageID
  ) throws(DatabaseError) -> OriginalRecord? {
    var found = state.withLock { state in
      state.held.values.filter { $0.bytes != nil }.map(\.original)
    }.filter { $0.name.id == id && $0.name.account == account }
    _ = try reading { database throws(DatabaseError) in
      try database.run(
        "SELECT \(OriginalRecord.columns) FROM original WHERE \(Self.isVariant)",
        Self.variants(id, account)
      ) { found.append(OriginalRecord($0)) }
    }
    return found.filter { !isGone($0) }.max {
      $0.size.width * $0.size.height < $1.size.width * $1.size.height
    }
  }

  // MARK: Bytes

  func read(
    _ query: OriginalQuery, urgency: Urgency
  ) async throws(OriginalsLocked) -> KeptBytes? {
    let read = try? await onReader(urgency) { [self] () throws(DatabaseError) in
      guard let original = lookUp(query) else {
        return Result<KeptBytes?, OriginalsLocked>.success(nil)
      }
      do throws(DatabaseError) {
        let body = original.name == query.name ? original.body : nil
        return .success(
          try bytes(of: original).map { KeptBytes(bytes: $0, terms: original.terms, body: body) })
      } catch {
        guard error.fault == .locked else { throw error }
        return .failure(OriginalsLocked())
      }
    }
    // Any other fault sends the load on to its source.
    return try read?.get()
  }

  /// The bytes of an original that a lookup has found; `nil` where they are not there any more, or damaged,
  /// which is reported. Blocks; counts as a use.
  package func bytes(of original: OriginalRecord) throws(DatabaseError) -> Data? {
    let (held, bodies) = state.withLock { ($0.held[original.name], $0.bodies) }
    if let held, held.original.body == original.body { return held.bytes }
    guard let bodies, !isInherited else { return nil }
    var isDamaged = false
    if let bytes = try read(original, in: bodies, isDamaged: &isDamaged) {
      noteUse(original.name.row)
      return bytes
    }
    if isDamaged { listeners.send(original.name.id, .damaged) }
    enqueue { [self] () throws(DatabaseError) in
      try transaction { database throws(DatabaseError) in
        try remove(original.name.row, original.body, in: database)
      }
    }
    return nil
  }

  func read(
    _ original: OriginalRecord, in bodies: BodyFolder, isDamaged: inout Bool
  ) throws(DatabaseError) -> Data? {
    try bodies.read(
      row: original.name.row, body: original.body, original.wholeByteCount,
      isWhole: original.wholeByteCount == original.byteCount, original.checksum,
      isDamaged: &isDamaged)
  }

  /// Runs a job of a reading thread.
  private func onReader<Value: Sendable>(
    _ urgency: Urgency, _ job: @escaping @Sendable () throws(DatabaseError) -> Value
  ) async throws(ImageCacheError) -> Value {
    do throws(JobError<DatabaseError>) {
      return try await readers.run(urgency: urgency) { _ throws(DatabaseError) in try job() }
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .refused(let refusal): throw .storageUnavailable("\(refusal)")
      case .failed(let failure): throw ImageCacheError(failure)
      }
    }
  }

  // MARK: Uses

  /// The moment of a use, later than all moments before it: the clock may stand still, and be put back.
  func stamp(_ state: inout State) -> Int64 {
    state.lastUse = max(now(), state.lastUse &+ 1)
    return state.lastUse
  }

  private func noteUse(_ row: Int64) {
    let isDue = state.withLock { state in
      state.uses[row] = stamp(&state)
      return state.uses.count == 512
    }
    if isDue { enqueue { [self] () throws(DatabaseError) in try writeUses() } }
  }

  /// Writes the order of use.
  func writeUses() throws(DatabaseError) {
    let uses = state.withLock { state in
      defer { state.uses = [:] }
      return state.uses
    }
    if uses.isEmpty { return }
    try transaction { database throws(DatabaseError) in try write(uses: uses, database) }
  }

  func write(uses: [Int64: Int64], _ database: Database) throws(DatabaseError) {
    for (row, use) in uses {
      try database.run(
        "UPDATE original SET used = ? WHERE id = ?", [.integer(use), .integer(row)])
    }
  }
}

extension OriginalName {
  /// The number of the row, and what stands in it, in full.
  var values: [Database.Value] {
    [.integer(row), .id(account.tableID), .id(id.tableID), .id(address.tableID)]
  }
}
