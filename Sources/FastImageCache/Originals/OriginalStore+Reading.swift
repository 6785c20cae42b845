public import Foundation
public import ImageSources
import LoadQueue
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
  ///   - account: The one that it was loaded for; `nil` for everyone.
  /// - Throws: As ``open()``, and ``ImageCacheError/cancelled``.
  public func bytes(
    of id: ImageID, for account: AccountID? = nil
  ) async throws(ImageCacheError) -> Data? {
    try await open()
    return try await onReader(Urgency(.current)) { [self] () throws(DatabaseError) in
      guard let original = try largest(of: id, OriginalName.account(account)) else { return nil }
      return try bytes(of: original, id)
    }
  }

  /// Writes a checked copy of the original, and nothing else, to a file.
  ///
  /// The copy is written beside the file and takes its place when it is whole. A link at the path is
  /// replaced. Counts as a use.
  ///
  /// - Parameters:
  ///   - id: As in ``bytes(of:for:)``.
  ///   - account: The one that it was loaded for; `nil` for everyone.
  ///   - file: A file URL, in a folder that exists.
  /// - Returns: Whether the original is there.
  /// - Throws: As ``bytes(of:for:)``; the file is as it was then.
  public func copyFile(
    of id: ImageID, for account: AccountID? = nil, to file: URL
  ) async throws(ImageCacheError) -> Bool {
    guard file.isFileURL else { throw .storageUnavailable("\(file.abbreviated) is no file URL") }
    guard let bytes = try await bytes(of: id, for: account) else { return false }
    let path = file.path
    try await onReader(Urgency(.current)) { [system] () throws(DatabaseError) in
      try BodyFolder.write(bytes, toFile: path, system)
    }
    return true
  }

  /// All originals and unfinished downloads, in no order; reads no images, and is no use of them.
  ///
  /// - Throws: As ``open()``, and ``ImageCacheError/cancelled``.
  public func inspect() async throws(ImageCacheError) -> [Original] {
    try await open()
    let found = try await onReader(Urgency(.current)) { [self] () throws(DatabaseError) in
      try reading { database throws(DatabaseError) in try Self.list(database) }
    }
    return (found ?? []).map { Original(record: $0, isFresh: freshness(of: $0.row) == .fresh) }
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
      return try read(original.record.row, in: bodies(), isDamaged: &isDamaged) != nil
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
        "SELECT \(OriginalSchema.all) FROM original WHERE id > ? ORDER BY id LIMIT 256",
        [.integer(found.last?.name.row ?? .min)]
      ) { found.append(OriginalRecord($0)) }
    } while found.count > count
    try database.run("SELECT \(OriginalSchema.all) FROM download") {
      found.append(OriginalRecord($0))
    }
    return found
  }

  // MARK: Lookups

  func look(_ query: OriginalQuery) -> KeptOriginal? {
    lookUp(query).map {
      KeptOriginal(
        freshness: $0.freshness, isPlaceholder: $0.row.isPlaceholder,
        size: $0.row.size.isPositive ? $0.row.size : nil)
    }
  }

  /// What a lookup finds.
  package struct Found {
    package let row: OriginalRow
    let freshness: Freshness
    /// Whether it is of the query's own address.
    let isOwn: Bool
    /// Whether it is of the query's version, or that is the default one.
    let isOfVersion: Bool
  }

  private static let ownRow = """
    SELECT \(OriginalSchema.row), ifnull(version, address) FROM original WHERE \(OriginalName.isName)
    """
  private static let variantRows = """
    SELECT \(OriginalSchema.row) FROM original
    WHERE \(OriginalName.isVariant) AND address IS NOT ? AND ifnull(version, address) IS ?
      AND NOT placeholder ORDER BY width * height
    """

  /// A lookup in the database on the calling thread, under no lock; its errors are misses. Another address's
  /// original answers only while it is fresh: its server cannot be asked about it.
  package func lookUp(_ query: OriginalQuery) -> Found? {
    // Copied before a row is read: a drop that ends meanwhile takes its ruling back.
    let (held, superseded) = state.withLock { ($0.held, $0.superseded) }
    func own(_ row: OriginalRow, _ version: ImageID) -> Found? {
      let freshness = freshness(of: row, supersededBy: superseded)
      let isOfVersion = query.accepts(version)
      if freshness == .gone { return nil }
      return Found(
        row: row,
        freshness: isOfVersion ? freshness : .mustRevalidate(answersFailures: false),
        isOwn: true, isOfVersion: isOfVersion)
    }
    func variant(_ row: OriginalRow) -> Found? {
      guard query.suffices(row.size), freshness(of: row, supersededBy: superseded) == .fresh else {
        return nil
      }
      return Found(row: row, freshness: .fresh, isOwn: false, isOfVersion: true)
    }
    let name = query.name
    var mine = held[name].flatMap { own($0.original.row, $0.original.version) }
    var other: Found?
    for (original, _, _) in held.values where other == nil && query.isVariant(original) {
      other = variant(original.row)
    }
    if mine?.isOfVersion == true || mine == nil && other != nil { return mine ?? other }
    _ = try? reading { database throws(DatabaseError) in
      if held[name] == nil {
        try database.run(Self.ownRow, name.values) {
          mine = own(
            OriginalRow($0), $0.id(OriginalSchema.rowCount).map { ImageID($0) } ?? name.address)
        }
      }
      if mine?.isOfVersion == true || other != nil { return }
      try database.run(
        Self.variantRows,
        OriginalName.variantValues(name.id, name.account) + [
          .id(name.address.tableID), .id(query.version.tableID),
        ]
      ) {
        if other == nil { other = variant(OriginalRow($0)) }
      }
    }
    // One of the own address that is of another version comes last: its server has to be asked.
    return mine?.isOfVersion == true ? mine : other ?? mine
  }

  /// - Parameter former: What had superseded originals before this one's row was read.
  func freshness(
    of original: OriginalRow, supersededBy former: [Int64: Newest] = [:]
  ) -> Freshness {
    let (use, newest, hasForgotten) = state.withLock {
      ($0.uses[original.number], $0.superseded[original.number], $0.hasForgotten)
    }
    for newest in [newest, former[original.number]] where newest?.allows(original.body) == false {
      return .gone
    }
    var lifetime = lifetime
    if let own = original.lifetime {
      (lifetime.maximumAge, lifetime.renewsOnUse) = (own.maximumAge, own.renewsOnUse)
    }
    let freshness = lifetime.freshness(
      of: original.freshness, stored: original.stored,
      lastUse: (use ?? original.lastUse) / 1_000_000, now: now() / 1_000_000)
    return hasForgotten && freshness != .gone
      ? .mustRevalidate(answersFailures: false) : freshness
  }

  /// What the original of a name has for its bytes.
  func body(of name: OriginalName, in database: Database) throws(DatabaseError) -> UInt64? {
    var body: UInt64?
    try database.run("SELECT body FROM original WHERE \(OriginalName.isName)", name.values) {
      body = $0.bits(0)
    }
    return body
  }

  private func largest(
    of id: ImageID, _ account: ImageID
  ) throws(DatabaseError) -> OriginalRow? {
    let (held, superseded) = state.withLock { ($0.held, $0.superseded) }
    var found = held.values.map(\.original).filter {
      $0.name.id == id && $0.name.account == account
    }.map(\.row)
    _ = try reading { database throws(DatabaseError) in
      try database.run(
        "SELECT \(OriginalSchema.row) FROM original WHERE \(OriginalName.isVariant)",
        OriginalName.variantValues(id, account)
      ) { found.append(OriginalRow($0)) }
    }
    return found.filter { freshness(of: $0, supersededBy: superseded) != .gone }.max {
      $0.size.width * $0.size.height < $1.size.width * $1.size.height
    }
  }

  // MARK: Bytes

  func read(
    _ query: OriginalQuery, urgency: Urgency
  ) async throws(OriginalsLocked) -> KeptBytes? {
    do throws(ImageCacheError) {
      return try await onReader(urgency) { [self] () throws(DatabaseError) -> KeptBytes? in
        guard let found = lookUp(query), let bytes = try bytes(of: found.row, query.name.id)
        else { return nil }
        // A clock that was put back has kept it in the future.
        let stored = found.row.stored <= now() / 1_000_000 ? found.row.stored : 0
        return KeptBytes(
          bytes: bytes, terms: found.row.terms, body: found.isOwn ? found.row.body : nil,
          isOfVersion: found.isOfVersion, stored: stored)
      }
    } catch {
      // Any other fault sends the load on to its source.
      if error == .originalsLocked { throw OriginalsLocked() }
      return nil
    }
  }

  /// The bytes of an original that a lookup has found; `nil` where they are not there any more, or damaged,
  /// which is reported. Blocks; counts as a use.
  package func bytes(of original: OriginalRow, _ id: ImageID) throws(DatabaseError) -> Data? {
    let (held, bodies) = state.withLock { state in
      let held = state.held.values.first { $0.original.body == original.body }
      return (held?.bytes, state.isInherited ? nil : state.bodies)
    }
    if let held { return held }
    guard let bodies else { return nil }
    var isDamaged = false
    if let bytes = try read(original, in: bodies, isDamaged: &isDamaged) {
      noteUse(original.number)
      return bytes
    }
    if isDamaged { listeners.send(id, .damaged) }
    enqueue { [self] () throws(DatabaseError) in
      try transaction { database throws(DatabaseError) in
        try remove(original.number, original.body, in: database)
      }
    }
    return nil
  }

  func read(
    _ original: OriginalRow, in bodies: BodyFolder, isDamaged: inout Bool
  ) throws(DatabaseError) -> Data? {
    try bodies.read(
      row: original.number, body: original.body, original.wholeByteCount, original.checksum,
      isDamaged: &isDamaged)
  }

  /// Runs a job of a reading thread.
  private func onReader<Value: Sendable>(
    _ urgency: Urgency, _ job: @escaping @Sendable () throws(DatabaseError) -> Value
  ) async throws(ImageCacheError) -> Value {
    do throws(JobError<DatabaseError>) {
      return try await readers.run(urgency: urgency) { [readings] _ throws(DatabaseError) in
        readings.enter()
        defer { readings.leave() }
        return try job()
      }
    } catch {
      throw ImageCacheError(error) { ImageCacheError($0) }
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
