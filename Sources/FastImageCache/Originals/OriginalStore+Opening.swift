import Dispatch
import Foundation
import Locking
package import OriginalDatabase
import TableStore

extension OriginalStore {
  typealias Held = (original: OriginalRecord, bytes: Data, download: OriginalDownload?)

  struct State {
    var isOpen = false
    /// Why the store cannot be used: for good, and the last time.
    var fault: DatabaseError?
    var reported: DatabaseError?
    var bodies: BodyFolder?
    var readers: [Database] = []
    var suspensions: Set<ObjectIdentifier> = []
    /// The loads whose originals no removal and no mark has forbidden to keep.
    var loads: [Int: NotedLoad] = [:]
    var lastLoad = 0
    /// The originals that wait to be written.
    var held: [OriginalName: Held] = [:]
    /// What answers of names, by row, of which the database may still have another body: that is not there.
    var superseded: [Int64: Newest] = [:]
    /// Whether there were more than can be remembered, or a mark was not written: none answers without its server.
    var hasForgotten = false
    /// Uses that the database does not know yet, by row.
    var uses: [Int64: Int64] = [:]
    var lastUse: Int64 = .min
    /// The forks when the store was first used.
    var forks: Int?

    /// Whether this is a child of fork(2), made after the first use.
    var isInherited: Bool {
      mutating get {
        let forks = self.forks ?? ForkWatch.start()
        self.forks = forks
        return forks != ForkWatch.generation
      }
    }

    /// Lets no other body of a name answer, until the database has none, or the process ends.
    mutating func supersede(_ row: Int64, by newest: Newest) {
      if superseded.count < 10_000 || superseded[row] != nil {
        superseded[row] = newest
      } else {
        hasForgotten = true
      }
    }

    func allows(_ load: OriginalLoad) -> Bool { loads[load.number]?.isOutdated == false }
  }

  struct NotedLoad {
    let name: OriginalName
    var owner: OriginalOwner
    /// When the call began that stores the original, in seconds since 1970; `nil` for a load. What servers answer
    /// during the call is older.
    let byHandSince: Int64?
    /// Whether a younger answer is there; the refreshes that this one causes may be younger still.
    var isOutdated = false

    var isByHand: Bool { byHandSince != nil }
  }

  enum Newest: Equatable {
    case only(UInt64)
    case anyBut(UInt64)

    func allows(_ body: UInt64) -> Bool {
      switch self {
      case .only(let newest): body == newest
      case .anyBut(let former): body != former
      }
    }
  }

  // MARK: The queue

  var isInherited: Bool { state.withLock { $0.isInherited } }

  /// Runs a job of the queue, which ends whether or not the calling task is cancelled.
  package func run<Value: Sendable>(
    _ job: @escaping @Sendable () throws(DatabaseError) -> Value
  ) async throws(DatabaseError) -> Value {
    guard !isInherited else {
      // The queue has no threads there.
      let error = DatabaseError(
        .inherited, file, "A child of fork(2) cannot use its parent's database.")
      note(error)
      throw error
    }
    return try await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: Result { () throws(DatabaseError) in try job() })
      }
    }.get()
  }

  /// Runs a job of the queue some time; its errors are reported where they matter.
  func enqueue(_ job: @escaping @Sendable () throws(DatabaseError) -> Void) {
    if !isInherited { queue.async { try? job() } }
  }

  // MARK: Opening

  /// Opens the store now, and makes it where it is missing; a cache does so at its first miss.
  ///
  /// - Throws: ``ImageCacheError/originalsUnavailable(_:file:)``, where the folder is on a network or can only be
  ///   read, and where the database is damaged, another program's, or made by a newer version: none of them is
  ///   deleted. ``ImageCacheError/diskFull``, ``ImageCacheError/storageUnavailable(_:)``.
  public func open() async throws(ImageCacheError) {
    do throws(DatabaseError) { try await openNow() } catch { throw ImageCacheError(error) }
  }

  /// As ``open()``, on the calling thread, which waits for the disk.
  func openBlocking() throws(ImageCacheError) {
    if isInherited { return }
    let result = queue.sync { Result { () throws(DatabaseError) in try openOnQueue() } }
    do throws(DatabaseError) { try result.get() } catch { throw ImageCacheError(error) }
  }

  /// Whether originals reach the disk, as far as an opening has told.
  var storageState: StorageState {
    let reason = state.withLock { $0.isOpen ? nil : $0.reported }
    return reason.map { .unavailable(reason: "\($0)") } ?? .ready
  }

  func openNow() async throws(DatabaseError) {
    if state.withLock({ $0.isOpen }) { return }
    try await run { [self] () throws(DatabaseError) in try openOnQueue() }
  }

  func openOnQueue() throws(DatabaseError) {
    let (isOpen, fault, isSuspended) = state.withLock {
      ($0.isOpen, $0.fault, !$0.suspensions.isEmpty)
    }
    if isOpen { return }
    if let fault { throw fault }
    if isSuspended { throw DatabaseError(.suspended, file, "The store is suspended.") }
    do throws(DatabaseError) {
      let bodies = try makeBodyFolder()
      guard !bodies.isOnNetwork else {
        throw DatabaseError(
          .network, directory.path, "Files on a network cannot be locked reliably.")
      }
      try connectWriter()
      state.withLock { ($0.isOpen, $0.bodies, $0.reported) = (true, bodies, nil) }
    } catch {
      note(error)
      throw error
    }
  }

  func makeBodyFolder() throws(DatabaseError) -> BodyFolder {
    let path = directory.appendingPathComponent("bodies").path
    return try BodyFolder(path, system, FileProtection(protection))
  }

  func connectWriter() throws(DatabaseError) {
    let database = try connect(cacheKilobytes: 512, makesFile: true)
    try OriginalSchema.prepare(database)
    (writer.database, writer.identity) = (database, try status(of: file)?.identity)
  }

  private func connect(cacheKilobytes: Int, makesFile: Bool) throws(DatabaseError) -> Database {
    let database = try Database(file, makesFile: makesFile, FileProtection(protection))
    try database.execute(
      OriginalSchema.settings(
        cacheKilobytes: cacheKilobytes, logByteCount: Room.logByteCount(byteLimit)))
    return database
  }

  func status(of path: String) throws(DatabaseError) -> FileStatus? {
    do throws(SystemError) { return try system.status(ofPath: path) } catch {
      throw DatabaseError(error, path, system)
    }
  }

  /// Ends the use of a database that cannot be used, and reports each reason once.
  func note(_ error: DatabaseError) {
    if [.suspended, .locked].contains(error.fault) { return }
    let (isNews, readers) = state.withLock { state -> (Bool, [Database]) in
      if state.isOpen, !error.isLasting { return (false, []) }
      defer {
        state.reported = error
        if error.isLasting { (state.fault, state.isOpen, state.readers) = (error, false, []) }
      }
      return (state.reported != error, state.readers)
    }
    // Closed outside of the lock.
    withExtendedLifetime(readers) {}
    if isNews { listeners.send(nil, .unavailable("\(error)")) }
  }

  // MARK: Reading connections

  /// Lends a reading connection; `nil` before the store was opened.
  func reading<Value>(
    _ body: (Database) throws(DatabaseError) -> Value
  ) throws(DatabaseError) -> Value? {
    readings.enter()
    defer { readings.leave() }
    let (isOpen, idle) = state.withLock { state in
      let isOpen = state.isOpen && !state.isInherited
      return (isOpen, isOpen ? state.readers.popLast() : nil)
    }
    guard isOpen else { return nil }
    // A deleted database is made anew by the next transaction.
    if idle == nil, try status(of: file) == nil { return nil }
    do throws(DatabaseError) {
      let database =
        if let idle { idle } else { try connect(cacheKilobytes: 192, makesFile: false) }
      let value = try body(database)
      state.withLock { state in
        if state.isOpen, state.readers.count < 4 { state.readers.append(database) }
      }
      return value
    } catch {
      note(error)
      throw error
    }
  }
}

/// A cache that may suspend a store; its suspension ends with it, since it resumes nothing then.
final class OriginalUser: Sendable {
  private let store: OriginalStore

  init(of store: OriginalStore) { self.store = store }

  deinit { resume() }

  /// Closes the database and all files until each cache that suspended the store has resumed it. What waits to
  /// be written is given up; lookups find nothing meanwhile.
  func suspend() async {
    _ = try? await store.run { [store, self] () throws(DatabaseError) in
      if store.state.withLock({ $0.isOpen }) { try? store.writeUses() }
      let held = store.state.withLock { state in
        state.suspensions.insert(ObjectIdentifier(self))
        defer { state.held = [:] }
        return state.held
      }
      store.close()
      store.readings.wait()
      for (original, _, _) in held.values { store.refuse(original, "The store is suspended.") }
    }
  }

  /// The next miss opens the database.
  func resume() { store.state.withLock { _ = $0.suspensions.remove(ObjectIdentifier(self)) } }
}

extension ImageCacheError {
  init(_ error: DatabaseError) {
    switch error.fault {
    case .damaged: self = .originalsUnavailable(.damaged, file: error.path)
    case .foreign: self = .originalsUnavailable(.foreign, file: error.path)
    case .network: self = .originalsUnavailable(.onNetwork, file: error.path)
    case .newer: self = .originalsUnavailable(.newer, file: error.path)
    case .readOnly: self = .originalsUnavailable(.readOnly, file: error.path)
    case .diskFull: self = .diskFull
    case .locked: self = .originalsLocked
    case .busy, .inherited, .suspended, .system: self = .storageUnavailable("\(error)")
    }
  }
}
