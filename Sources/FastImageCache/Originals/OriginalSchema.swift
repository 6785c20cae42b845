import Foundation
import OriginalDatabase
import Pixels
import TableStore

/// The tables of a database of originals; `Docs/OriginalFormat.md` explains them.
enum OriginalSchema {
  /// `FICo`, for SQLite's `application_id`.
  private static let application = 0x4649_436f
  private static let version = 1

  /// What originals and unfinished downloads share, in the order of `OriginalRecord.columns`.
  private static let columns = """
    body INTEGER NOT NULL, size INTEGER NOT NULL, whole INTEGER NOT NULL, checksum INTEGER NOT NULL,
    account, key, version, address, namespace, entity,
    variants INTEGER NOT NULL, owner INTEGER NOT NULL,
    width INTEGER NOT NULL, height INTEGER NOT NULL, placeholder INTEGER NOT NULL,
    stored INTEGER NOT NULL, used INTEGER NOT NULL, answered INTEGER NOT NULL,
    fresh_for INTEGER NOT NULL, while_revalidating INTEGER NOT NULL, if_error INTEGER NOT NULL,
    must_revalidate INTEGER NOT NULL, terms
    """

  private static let create = """
    PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS original (id INTEGER PRIMARY KEY, \(columns));
    CREATE INDEX IF NOT EXISTS original_used ON original (used);
    CREATE INDEX IF NOT EXISTS original_variants ON original (variants);
    CREATE INDEX IF NOT EXISTS original_owner ON original (owner);
    CREATE TABLE IF NOT EXISTS download (id INTEGER NOT NULL, \(columns));
    CREATE TABLE IF NOT EXISTS store (bytes INTEGER NOT NULL);
    INSERT INTO store SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM store);
    \(counting("original")) \(counting("download"))
    PRAGMA application_id = \(application); PRAGMA user_version = \(version);
    COMMIT;
    """

  /// Triggers that keep `store.bytes` the sum of all bodies' bytes, rounded up to blocks.
  private static func counting(_ table: String) -> String {
    """
    CREATE TRIGGER IF NOT EXISTS \(table)_comes AFTER INSERT ON \(table) BEGIN
      UPDATE store SET bytes = bytes + (NEW.size + 4095) / 4096 * 4096; END;
    CREATE TRIGGER IF NOT EXISTS \(table)_goes AFTER DELETE ON \(table) BEGIN
      UPDATE store SET bytes = bytes - (OLD.size + 4095) / 4096 * 4096; END;
    """
  }

  /// Makes the tables of an empty database, and checks those of any other.
  static func prepare(_ database: Database) throws(DatabaseError) {
    let application = try database.number("PRAGMA application_id")
    let version = try database.number("PRAGMA user_version")
    if application == 0, version == 0,
      try database.number("SELECT count(*) FROM sqlite_master") == 0
    {
      return try database.execute(create)
    }
    guard application == Self.application else {
      throw DatabaseError(.foreign, database.path, "This is another program's database.")
    }
    guard version == Self.version else {
      throw DatabaseError(
        .newer, database.path, "The database has version \(version), and \(Self.version) is known.")
    }
  }

  /// The settings of each connection.
  ///
  /// - Parameters:
  ///   - cacheKilobytes: The pages that it keeps in memory, however many originals there are.
  ///   - logByteCount: The log is copied into the database from there on.
  static func settings(cacheKilobytes: Int, logByteCount: Int) -> String {
    """
    PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;
    PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
    PRAGMA cache_size = -\(cacheKilobytes); PRAGMA journal_size_limit = \(logByteCount);
    PRAGMA wal_autocheckpoint = \(logByteCount / 4096);
    """
  }
}

extension OriginalRecord {
  static let columns = """
    id, body, size, whole, checksum, account, key, version, address, namespace, entity, variants,
    owner, width, height, placeholder, stored, used, answered, fresh_for, while_revalidating,
    if_error, must_revalidate, terms
    """

  /// In the order of the columns. Ids that are the address stand as nulls.
  var values: [Database.Value] {
    func unlessAddress(_ id: ImageID) -> Database.Value {
      id == name.address ? .null : .id(id.tableID)
    }
    return [
      .integer(name.row), .bits(body), .number(byteCount), .number(wholeByteCount), .bits(checksum),
      .id(name.account.tableID), unlessAddress(name.id), unlessAddress(version),
      .id(name.address.tableID), .id(owner.namespace.tableID), unlessAddress(owner.entity),
      .integer(OriginalName.variants(name.id, name.account)),
      .bits(owner.entity.tableID.stableHash),
      .number(size.width), .number(size.height), .number(isPlaceholder ? 1 : 0), .integer(stored),
      .integer(lastUse),
    ] + freshness.values + [.text(terms.encoded())]
  }

  init(_ row: borrowing Row) {
    func id(_ column: Int32) -> ImageID? { row.id(column).map { ImageID($0) } }
    let (address, stored) = (id(8) ?? OriginalName.everyone, row.integer(16))
    self.init(
      OriginalName(id: id(6) ?? address, account: id(5) ?? OriginalName.everyone, address: address),
      version: id(7) ?? address,
      owner: OriginalOwner(namespace: id(9) ?? OriginalName.everyone, entity: id(10) ?? address),
      byteCount: row.number(2),
      terms: OriginalTerms(encoded: Array(row.bytes(23)))
        ?? OriginalTerms(received: Date(timeIntervalSince1970: Double(stored))))
    (body, wholeByteCount, checksum) = (row.bits(1), row.number(3), row.bits(4))
    size = PixelSize(width: row.number(13), height: row.number(14))
    (isPlaceholder, self.stored, lastUse) = (row.integer(15) != 0, stored, row.integer(17))
    freshness = FreshnessFacts(
      answered: row.integer(18), freshFor: UInt32(clamping: row.integer(19)),
      staleWhileRevalidate: UInt32(clamping: row.integer(20)),
      staleIfError: UInt32(clamping: row.integer(21)), mustRevalidate: row.integer(22) != 0)
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
