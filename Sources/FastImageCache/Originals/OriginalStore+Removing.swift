public import ImageSources
import Locking
import OriginalDatabase
import TableStore

extension OriginalStore: OriginalKeeping {
  /// Removes one original, with its variants and what has arrived of them.
  ///
  /// A removed original does not come back after the process ends; after a power cut only once
  /// ``flush()`` has returned. Loads of this process that are under way answer and keep nothing of it, whichever
  /// cache they load for. A removal works in a suspended store, too.
  ///
  /// - Parameters:
  ///   - id: As in ``bytes(of:for:)``; nothing happens if it is not there.
  ///   - account: The one that it was loaded for; `nil` for everyone.
  /// - Throws: As ``open()``; the original may be there then.
  public func remove(
    _ id: ImageID, for account: AccountID? = nil
  ) async throws(ImageCacheError) {
    try await remove(.original(id, account: OriginalName.account(account)))
  }

  /// Removes the originals of an entity, of every account; otherwise as ``remove(_:for:)``.
  ///
  /// An original belongs to the entity for which it was loaded; others may use it.
  ///
  /// - Parameters:
  ///   - entity: Its ``ImageEntity/imageID``.
  ///   - namespace: That of the cache that loaded them; `nil` for all: the entities of two namespaces may have
  ///     equal ids.
  public func removeAll(
    of entity: ImageID, in namespace: String?
  ) async throws(ImageCacheError) {
    try await remove(.entity(entity, namespace: namespace.map { ImageID($0) }))
  }

  /// Removes the originals of an account that signed out, for example; otherwise as
  /// ``remove(_:for:)``.
  public func removeAll(for account: AccountID) async throws(ImageCacheError) {
    try await remove(.account(OriginalName.account(account)))
  }

  /// Removes all originals; otherwise as ``remove(_:for:)``.
  ///
  /// - Parameter namespace: That of the cache that loaded them; `nil` for all.
  public func removeAll(in namespace: String? = nil) async throws(ImageCacheError) {
    try await remove(.all(namespace: namespace.map { ImageID($0) }))
  }

  /// Removes exactly these, and the unfinished downloads among them.
  package func remove(_ originals: [Original]) async throws(ImageCacheError) {
    for original in originals {
      try await translating { [self] () throws(DatabaseError) in
        try transaction { database throws(DatabaseError) in
          try remove(original.record.name.row, original.record.body, in: database)
        }
      }
    }
  }

  /// Waits until removed originals stay removed after a power cut.
  ///
  /// - Throws: As ``open()``.
  public func flush() async throws(ImageCacheError) {
    try await translating { [self] () throws(DatabaseError) in
      guard try status(of: file) != nil else { return }
      defer { closeIfSuspended() }
      if state.withLock({ $0.suspensions.isEmpty }) { try writeUses() }
      let database = try transaction(evenSuspended: true) { $0 }
      // A commit that waits for the device takes all earlier ones along, if it changes a page.
      try database.execute("PRAGMA synchronous = FULL")
      defer { try? database.execute("PRAGMA synchronous = NORMAL") }
      try transaction(evenSuspended: true) { database throws(DatabaseError) in
        for sign in ["+", "-"] { try database.run("UPDATE store SET bytes = bytes \(sign) 1") }
      }
      try bodies().synchronize()
    }
  }

  // MARK: The loader's view

  func prepare() async throws(OriginalsLocked) {
    do throws(DatabaseError) { try await openNow() } catch {
      if error.fault == .locked { throw OriginalsLocked() }
    }
  }

  /// Removes a few in each transaction: others write between them. A folder that is not there is not made.
  func remove(_ removal: OriginalRemoval) async throws(ImageCacheError) {
    // First the loads: one that held its original after it was looked for would bring it back. And what caches
    // have in memory of their downloads; also last, for a load that took one from the disk between.
    listeners.forget(removal)
    defer { listeners.forget(removal) }
    state.withLock { state in
      state.loads = state.loads.filter { !removal.covers($0.value.name, $0.value.owner) }
      state.held = state.held.filter {
        !removal.covers($0.value.original.name, $0.value.original.owner)
      }
    }
    var next: Int64? = .min
    while let row = next {
      next = try await translating { [self] () throws(DatabaseError) in
        guard try status(of: file) != nil else { return nil }
        defer { closeIfSuspended() }
        return try removeSome(removal, from: row)
      }
    }
    if case .original(let id, _) = removal {
      listeners.send(id, .removed)
    } else {
      listeners.send(nil, .removed)
    }
  }

  /// The rows of one transaction at most.
  private static let removedAtOnce = 32

  /// - Returns: The row to go on with.
  private func removeSome(
    _ removal: OriginalRemoval, from row: Int64
  ) throws(DatabaseError) -> Int64? {
    let (condition, values) = removal.condition
    return try transaction(evenSuspended: true) { database throws(DatabaseError) in
      var found = try bodies(
        """
        SELECT id, body FROM original WHERE \(condition) AND id >= ? ORDER BY id
        LIMIT \(Self.removedAtOnce)
        """, values + [.integer(row)], in: database)
      var next = found.count < Self.removedAtOnce ? nil : found.last?.row
      if next == nil {
        let downloads = "SELECT id, body FROM download WHERE \(condition)"
        found += try bodies(downloads, values, in: database)
      }
      let end = now() + Self.unlinkTime
      while let victim = found.popLast() {
        try remove(victim.row, victim.body, in: database)
        if now() > end { break }
      }
      if !found.isEmpty { next = row }
      // Of the pages that these rows have filled, and of as many of earlier ones.
      try database.run("PRAGMA incremental_vacuum(64)")
      return next
    }
  }

  private func closeIfSuspended() {
    if state.withLock({ !$0.suspensions.isEmpty }) { close() }
  }

  private func translating<Value: Sendable>(
    _ job: @escaping @Sendable () throws(DatabaseError) -> Value
  ) async throws(ImageCacheError) -> Value {
    do throws(DatabaseError) { return try await run(job) } catch { throw ImageCacheError(error) }
  }

  func drop(_ name: OriginalName, body: UInt64) async {
    let newest = state.withLock { state in
      if state.held[name]?.original.body == body { state.held[name] = nil }
      if state.superseded[name.row] == nil { state.supersede(name.row, by: .anyBut(body)) }
      return state.superseded[name.row]
    }
    do throws(DatabaseError) {
      let isThere = try await run { [self] () throws(DatabaseError) in
        let isThere = try transaction { database throws(DatabaseError) in
          // An older one that it has superseded goes with it.
          guard let present = try self.body(of: name, in: database),
            present == body || newest == .only(body)
          else { return false }
          try remove(name.row, present, in: database)
          return true
        }
        state.withLock { state in
          if state.held[name] == nil, state.superseded[name.row] == newest {
            state.superseded[name.row] = nil
          }
        }
        return isThere
      }
      if isThere { listeners.send(name.id, .removed) }
    } catch { noteLeft(name, error) }
  }

  // MARK: Words of servers

  func note(
    _ terms: ResponseMetadata?, of query: OriginalQuery, body: UInt64, for load: OriginalLoad?
  ) async {
    let (name, version) = (query.name, terms == nil ? nil : query.explicitVersion)
    let facts = terms.map { lifetime.facts(of: $0) } ?? .mustAsk
    // The server forbids to keep it from now on.
    guard let facts else { return await drop(name, body: body) }
    state.withLock { state in
      guard load.map(state.allows) ?? true,
        state.held[name]?.original.body == body
      else { return }
      state.held[name]?.original.freshness = facts
      if let terms { state.held[name]?.original.terms = terms }
      if let version { state.held[name]?.original.version = version }
    }
    let failure = await write { [self] database throws(DatabaseError) in
      // A mark may have come meanwhile.
      guard load.map(allows) ?? true else { return }
      try database.run(
        """
        UPDATE original SET \(FreshnessFacts.assignments), terms = ifnull(?, terms),
          version = ifnull(?, version)
        WHERE id = ? AND body = ?
        """,
        facts.values + [
          terms.map { .text($0.encoded()) } ?? .null, version.map { .id($0.tableID) } ?? .null,
          .integer(name.row), .bits(body),
        ])
    }
    guard let failure else { return }
    // What was known is as good as a word that is no stricter.
    if terms != nil, let known = lookUp(query)?.row, known.body == body,
      !facts.isStricter(than: known.freshness)
    {
      return
    }
    state.withLock { state in
      if state.superseded[name.row] == nil { state.supersede(name.row, by: .anyBut(body)) }
    }
    noteLeft(name, failure)
  }

  func markStale(_ owner: OriginalOwner, _ names: Set<ImageID>) async {
    func isMarked(_ name: OriginalName, _ other: OriginalOwner) -> Bool {
      other == owner || names.contains(name.id) || names.contains(name.address)
    }
    state.withLock { state in
      state.loads = state.loads.filter { !isMarked($0.value.name, $0.value.owner) }
      for (name, held) in state.held where isMarked(name, held.original.owner) {
        state.held[name]?.original.freshness = .mustAsk
      }
    }
    let failure = await changeAll(
      of: owner, or: names, FreshnessFacts.assignments, FreshnessFacts.mustAsk.values)
    guard let failure else { return }
    // Which rows are meant, the database alone knows.
    state.withLock { $0.hasForgotten = true }
    let reason =
      "A mark was not written, so that all originals are asked about until this process ends"
    listeners.send(nil, .refused("\(reason): \(failure)"))
  }

  /// Lets the originals of one entity count as another's, those of loads under way too. What caches have in
  /// memory of its downloads goes.
  func move(_ owner: OriginalOwner, to new: ImageID) async {
    listeners.forget(.entity(owner.entity, namespace: owner.namespace))
    let newOwner = OriginalOwner(namespace: owner.namespace, entity: new)
    state.withLock { state in
      for (number, load) in state.loads where load.owner == owner {
        state.loads[number]?.owner = newOwner
      }
      for (name, held) in state.held where held.original.owner == owner {
        state.held[name]?.original.owner = newOwner
      }
    }
    await changeAll(
      of: owner, "entity = ?, owner = ?", [.id(new.tableID), .bits(new.tableID.stableHash)])
  }

  /// Changes the rows of an owner, and those of certain ids and addresses, which no index finds.
  @discardableResult
  private func changeAll(
    of owner: OriginalOwner, or names: Set<ImageID> = [], _ change: String,
    _ values: [Database.Value]
  ) async -> DatabaseError? {
    let removal = OriginalRemoval.entity(owner.entity, namespace: owner.namespace)
    return await write { database throws(DatabaseError) in
      var (condition, owners) = removal.condition
      for name in names {
        condition += " OR key IS ? OR address IS ?"
        owners += [.id(name.tableID), .id(name.tableID)]
      }
      for table in ["original", "download"] {
        try database.run("UPDATE \(table) SET \(change) WHERE \(condition)", values + owners)
      }
    }
  }

  /// Changes rows, in a folder that is there.
  ///
  /// - Returns: Why that failed.
  private func write(
    _ change: @escaping @Sendable (Database) throws(DatabaseError) -> Void
  ) async -> DatabaseError? {
    do throws(DatabaseError) {
      try await run { [self] () throws(DatabaseError) in
        if !state.withLock({ $0.isOpen }), try status(of: file) == nil { return }
        defer { closeIfSuspended() }
        try transaction(evenSuspended: true, change)
      }
      return nil
    } catch { return error }
  }
}
