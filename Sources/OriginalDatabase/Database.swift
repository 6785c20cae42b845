import CSQLite
package import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One connection to a SQLite database. Statements are prepared at their first use, and kept.
///
/// Nobody but SQLite opens the database's files: closing a descriptor of theirs would drop the locks of
/// all connections of the process.
///
/// `@unchecked Sendable` is safe because one thread at a time has a connection: the writer's is used on the
/// store's queue only, and a reader's is out of the store's lock while it is used.
package final class Database: @unchecked Sendable {
  package enum Value {
    case null
    case integer(Int64)
    case text([UInt8])
    case id(TableID)

    package static func number(_ number: Int) -> Value { .integer(Int64(number)) }
    package static func bits(_ number: UInt64) -> Value { .integer(Int64(bitPattern: number)) }
  }

  package let path: String
  /// As it was opened, with the class of protection that SQLite gives all of the database's files.
  package let flags: Int32
  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]
  /// The statement that ran last: a reader runs the same one for nearly all lookups.
  private var last: (sql: String, statement: OpaquePointer)?
  private let forks = ForkWatch.start()

  /// - Parameter makesFile: Makes a database that is missing, and waits for other writers; without it the calling
  ///   thread may be one that shows images.
  package init(_ path: String, makesFile: Bool, _ protection: FileProtection) throws(DatabaseError)
  {
    self.path = path
    var reason = [CChar](repeating: 0, count: 512)
    guard fic_sqlite_load(&reason, reason.count) else {
      let text = String(
        decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      throw DatabaseError(.system, path, "SQLite cannot be loaded: \(text)")
    }
    flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (makesFile ? SQLITE_OPEN_CREATE : 0)
      | fic_sqlite_protection(protection == .none ? 0 : protection == .complete ? 1 : 2)
    // Others may not read the addresses; SQLite gives its other files the mode of this one.
    let isNew = access(path, F_OK) != 0
    var handle: OpaquePointer?
    let code = fic_sqlite_open(path, &handle, flags)
    guard let handle else { throw DatabaseError(.system, path, "SQLite has no memory.") }
    self.handle = handle
    guard code == SQLITE_OK else { throw error }
    if isNew { chmod(path, 0o600) }
    _ = fic_sqlite_busy_timeout(handle, makesFile ? 5000 : 100)
    guard !fic_sqlite_is_readonly(handle) else {
      throw DatabaseError(.readOnly, path, "The database can only be read.")
    }
  }

  deinit {
    // A child of fork(2) may not even close a connection of its parent.
    guard forks == ForkWatch.generation else { return }
    for statement in statements.values { _ = fic_sqlite_finalize(statement) }
    _ = fic_sqlite_close(handle)
  }

  /// Runs statements without parameters and rows.
  package func execute(_ sql: String) throws(DatabaseError) {
    guard fic_sqlite_exec(handle, sql) == SQLITE_OK else { throw error }
  }

  /// Runs one statement; `body` is called for each row.
  ///
  /// - Returns: The number of rows that were changed.
  @discardableResult
  package func run(
    _ sql: String, _ values: [Value] = [], _ body: (borrowing Row) -> Void = { _ in }
  ) throws(DatabaseError) -> Int {
    let statement = try prepared(sql)
    defer { _ = fic_sqlite_reset(statement) }
    for (index, value) in values.enumerated() {
      guard bind(value, to: statement, at: Int32(index + 1)) == SQLITE_OK else { throw error }
    }
    // SQLite reads the text of ids where it is.
    defer { withExtendedLifetime(values) {} }
    while true {
      switch fic_sqlite_step(statement) {
      case SQLITE_ROW: body(Row(statement: statement))
      case SQLITE_DONE: return Int(fic_sqlite_changes(handle))
      default: throw error
      }
    }
  }

  /// The number that a statement answers with; 0 without a row.
  package func number(_ sql: String, _ values: [Value] = []) throws(DatabaseError) -> Int {
    var number = 0
    try run(sql, values) { number = Int($0.integer(0)) }
    return number
  }

  private func prepared(_ sql: String) throws(DatabaseError) -> OpaquePointer {
    // Strings of one object are equal by their address.
    if let last, last.sql == sql { return last.statement }
    var statement = statements[sql]
    if statement == nil {
      guard fic_sqlite_prepare(handle, sql, &statement) == SQLITE_OK else { throw error }
      statements[sql] = statement
    }
    guard let statement else { throw error }
    last = (sql, statement)
    return statement
  }

  private func bind(_ value: Value, to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch value {
    case .null: fic_sqlite_bind_null(statement, index)
    case .integer(let number): fic_sqlite_bind_int64(statement, index, number)
    case .text(let bytes): fic_sqlite_bind_text(statement, index, bytes, Int32(bytes.count))
    case .id(let id):
      switch id.kind {
      case .string:
        id.withText { fic_sqlite_lend_text(statement, index, $0.baseAddress, Int32($0.count)) }
      case .integer: fic_sqlite_bind_int64(statement, index, Int64(bitPattern: id.words.0))
      case .largeInteger: fic_sqlite_bind_words(statement, index, id.words.0, 0, 8)
      // No original is a placeholder's version, a damaged image's or a frame.
      case .uuid, .placeholder, .damaged, .damagedPlaceholder, .frame:
        fic_sqlite_bind_words(statement, index, id.words.0, id.words.1, 16)
      }
    }
  }

  private var error: DatabaseError {
    let code = fic_sqlite_extended_errcode(handle) & 0xff
    let number = fic_sqlite_system_errno(handle)
    let text = String(cString: fic_sqlite_errmsg(handle))
    let isRefused = [EACCES, EPERM, EROFS].contains(number)
    let fault: DatabaseError.Fault =
      switch code {
      case SQLITE_BUSY: .busy
      case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
      case SQLITE_FULL: .diskFull
      case SQLITE_READONLY: .readOnly
      case SQLITE_IOERR where number == ENOSPC || number == EDQUOT: .diskFull
      // A locked device refuses what rights allow.
      case SQLITE_CANTOPEN where isRefused, SQLITE_IOERR where isRefused, SQLITE_AUTH, SQLITE_PERM:
        SystemCalls.live.hasFileProtection ? .locked : .readOnly
      default: .system
      }
    return DatabaseError(
      fault, path, number == 0 ? text : "\(text) (\(String(cString: strerror(number))))")
  }
}

/// A row of an answer, valid while its closure runs.
package struct Row: ~Copyable {
  fileprivate let statement: OpaquePointer

  package func integer(_ column: Int32) -> Int64 { fic_sqlite_column_int64(statement, column) }

  package func isNull(_ column: Int32) -> Bool {
    fic_sqlite_column_type(statement, column) == SQLITE_NULL
  }

  package func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

  /// A count of bytes or pixels. Others may have written any number.
  package func number(_ column: Int32, atMost limit: Int64 = 1 << 40) -> Int {
    Int(min(max(0, integer(column)), limit))
  }

  package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: fic_sqlite_column_blob(statement, column),
      count: Int(fic_sqlite_column_bytes(statement, column)))
  }

  /// The id that was bound; `nil` for a null, and for a value that no id makes.
  package func id(_ column: Int32) -> TableID? {
    func word(_ offset: Int) -> UInt64 {
      UInt64(bigEndian: bytes(column).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    return switch (fic_sqlite_column_type(statement, column), bytes(column).count) {
    case (SQLITE_INTEGER, _): TableID(integer(column))
    case (SQLITE_TEXT, _): TableID(validating: bytes(column))
    case (SQLITE_BLOB, 8): TableID(word(0))
    case (SQLITE_BLOB, 16): TableID(uuid: (word(0), word(8)))
    default: nil
    }
  }
}
