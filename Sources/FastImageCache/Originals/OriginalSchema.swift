import Foundation
import ImageSources
import OriginalDatabase
import Pixels
import TableStore

/// The tables of a database of originals; `Docs/OriginalFormat.md` explains them.
enum OriginalSchema {
  /// `FICo`, for SQLite's `application_id`.
  private static let application = 0x4649_436f
  private static let version = 2
  /// Smaller ones than SQLite's 4096 have a keep write fewer bytes to the log; a row with a long address fits in one.
  static let pageByteCount = 2048

  /// The columns that a lookup reads, in the order of `OriginalRow`.
  static let row = """
    id, body, size, whole, checksum, width, height, placeholder, stored, used, answered, fresh_for,
    while_revalidating, if_error, must_revalidate, terms, maximum_age, renewed
    """

  static let rowCount: Int32 = 18

  /// All columns, in the order of `OriginalRecord.values`.
  static let all = row + ", account, key, version, address, namespace, entity, variants, owner"

  /// Put a record into a table.
  static let (intoOriginal, intoDownload) = (insertion("original"), insertion("download"))

  private static func insertion(_ table: String) -> String {
    let marks = repeatElement("?", count: all.split(separator: ",").count)
    return "INSERT INTO \(table) (\(all)) VALUES (\(marks.joined(separator: ", ")))"
  }

  /// Originals and unfinished downloads have the same; of several downloads of a name each has its row.
  private static let create = """
    PRAGMA page_size = \(pageByteCount); PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS original (id INTEGER PRIMARY KEY, \(all.dropFirst(4)));
    CREATE INDEX IF NOT EXISTS original_used ON original (used);
    CREATE INDEX IF NOT EXISTS original_variants ON original (variants);
    CREATE INDEX IF NOT EXISTS original_owner ON original (owner);
    CREATE TABLE IF NOT EXISTS download (\(all));
    CREATE TABLE IF NOT EXISTS store (bytes INTEGER NOT NULL);
    INSERT INTO store SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM store);
    \(counting("original", "INSERT", "+", "NEW")) \(counting("original", "DELETE", "-", "OLD"))
    \(counting("download", "INSERT", "+", "NEW")) \(counting("download", "DELETE", "-", "OLD"))
    PRAGMA application_id = \(application); PRAGMA user_version = \(version); COMMIT;
    """

  /// A trigger that keeps `store.bytes` the sum of all bodies' bytes, rounded up to blocks.
  private static func counting(
    _ table: String, _ event: String, _ sign: String, _ row: String
  ) -> String {
    """
    CREATE TRIGGER IF NOT EXISTS \(table)_\(event) AFTER \(event) ON \(table) BEGIN
      UPDATE store SET bytes = bytes \(sign) (\(row).size + 4095) / 4096 * 4096; END;
    """
  }

  /// Makes the tables of an empty database, and checks those of any other.
  static func prepare(
    _ database: Database, until end: ContinuousClock.Instant = .now + .seconds(5)
  ) throws(DatabaseError) {
    // One transaction: between two of them another process may make the tables.
    try database.execute("BEGIN")
    let application = try database.number("PRAGMA application_id")
    let version = try database.number("PRAGMA user_version")
    let isEmpty = try database.number("SELECT count(*) FROM sqlite_master") == 0
    try database.execute("COMMIT")
    if isEmpty, application == 0, version == 0 {
      do throws(DatabaseError) { return try database.execute(create) } catch {
        // SQLite waits for no other process that changes the journal's mode at the same time.
        guard error.fault == .busy, .now < end else { throw error }
        try? database.execute("ROLLBACK")
        usleep(1000)
        return try prepare(database, until: end)
      }
    }
    guard application == Self.application else {
      throw DatabaseError(.foreign, database.path, "This is another program's database.")
    }
    guard version == Self.version else {
      throw DatabaseError(
        version > Self.version ? .newer : .foreign, database.path,
        "The database has version \(version), not \(Self.version).")
    }
  }

  /// The settings of each connection: how many pages it keeps in memory, however many originals there are, and
  /// from which size on the log is copied into the database.
  static func settings(cacheKilobytes: Int, logByteCount: Int) -> String {
    """
    PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;
    PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
    PRAGMA cache_size = -\(cacheKilobytes); PRAGMA journal_size_limit = \(logByteCount);
    PRAGMA wal_autocheckpoint = \(logByteCount / pageByteCount);
    """
  }
}

extension OriginalRow {
  var values: [Database.Value] {
    [
      .integer(number), .bits(body), .number(byteCount), .number(wholeByteCount), .bits(checksum),
      .number(size.width), .number(size.height), .number(isPlaceholder ? 1 : 0), .integer(stored),
      .integer(lastUse),
    ] + freshness.values + [
      .text(encodedTerms), lifetime.map { .integer($0.maximumAge.components.seconds) } ?? .null,
      lifetime.map { .number($0.renewsOnUse ? 1 : 0) } ?? .null,
    ]
  }

  init(_ row: borrowing Row) {
    self.init(
      number: row.integer(0), body: row.bits(1), byteCount: row.number(2),
      encodedTerms: Array(row.bytes(15)))
    (wholeByteCount, checksum) = (row.number(3), row.bits(4))
    let largestSide = Int64(Int32.max)
    size = PixelSize(
      width: row.number(5, atMost: largestSide), height: row.number(6, atMost: largestSide))
    (isPlaceholder, stored, lastUse) = (row.integer(7) != 0, row.integer(8), row.integer(9))
    freshness = FreshnessFacts(
      answered: row.integer(10), freshFor: UInt32(clamping: row.integer(11)),
      staleWhileRevalidate: UInt32(clamping: row.integer(12)),
      staleIfError: UInt32(clamping: row.integer(13)), mustRevalidate: row.integer(14) != 0)
    if !row.isNull(16) {
      lifetime = .init(.seconds(row.integer(16)), renewsOnUse: row.integer(17) != 0)
    }
  }
}

extension OriginalRecord {
  /// Ids that are the address stand as nulls.
  var values: [Database.Value] {
    func unlessAddress(_ id: ImageID) -> Database.Value {
      id == name.address ? .null : .id(id.tableID)
    }
    return row.values + [
      .id(name.account.tableID), unlessAddress(name.id), unlessAddress(version),
      .id(name.address.tableID), .id(owner.namespace.tableID), unlessAddress(owner.entity),
      .integer(OriginalName.variants(name.id, name.account)),
      .bits(owner.entity.tableID.stableHash),
    ]
  }

  init(_ row: borrowing Row) {
    func id(_ column: Int32) -> ImageID? { row.id(column).map { ImageID($0) } }
    // Behind the columns of the row.
    let (nothing, address) = (OriginalName.everyone, id(21) ?? OriginalName.everyone)
    name = OriginalName(id: id(19) ?? address, account: id(18) ?? nothing, address: address)
    version = id(20) ?? address
    owner = OriginalOwner(namespace: id(22) ?? nothing, entity: id(23) ?? address)
    self.row = OriginalRow(row)
  }
}

extension FreshnessFacts {
  static let assignments =
    "answered = ?, fresh_for = ?, while_revalidating = ?, if_error = ?, must_revalidate = ?"

  var values: [Database.Value] {
    [
      .integer(answered), .integer(Int64(freshFor)), .integer(Int64(staleWhileRevalidate)),
      .integer(Int64(staleIfError)), .number(mustRevalidate ? 1 : 0),
    ]
  }
}

extension OriginalName {
  /// The row's number, and what stands in it, in full; for `isName`.
  var values: [Database.Value] {
    [.integer(row), .id(account.tableID), .id(id.tableID), .id(address.tableID)]
  }

  static let isName = "id = ? AND account IS ? AND ifnull(key, address) IS ? AND address IS ?"
  static let isVariant = "variants = ? AND account IS ? AND ifnull(key, address) IS ?"

  static func variantValues(_ id: ImageID, _ account: ImageID) -> [Database.Value] {
    [.integer(variants(id, account)), .id(account.tableID), .id(id.tableID)]
  }
}

extension OriginalRemoval {
  /// The rows that it takes, of either table, as a condition with its values.
  var condition: (String, [Database.Value]) {
    func inside(_ namespace: ImageID?) -> (String, [Database.Value]) {
      namespace.map { ("namespace IS ?", [.id($0.tableID)]) } ?? ("1", [])
    }
    switch self {
    case .original(let id, let account):
      return (OriginalName.isVariant, OriginalName.variantValues(id, account))
    case .entity(let entity, let namespace):
      let (condition, values) = inside(namespace)
      let owner: [Database.Value] = [.bits(entity.tableID.stableHash), .id(entity.tableID)]
      return ("owner = ? AND ifnull(entity, address) IS ? AND \(condition)", owner + values)
    case .account(let account): return ("account IS ?", [.id(account.tableID)])
    case .all(let namespace): return inside(namespace)
    }
  }
}
