/// How many bytes a store may take, and which it has; pure.
///
/// Each body counts with its bytes rounded up to a file system's blocks; the database with its pages; its log
/// with the size at which it is copied back, or with its own where that is more.
struct Room: Equatable {
  let limit: Int
  /// Bytes of all bodies, rounded, those that are reserved included.
  var bodies = 0
  /// Bytes of the database.
  var pages = 0
  /// Bytes of the log now.
  var log = 0

  /// The bytes of the log from which on it is copied into the database.
  static func logByteCount(_ limit: Int) -> Int { min(2 << 20, max(64 << 10, limit / 8)) }

  /// The index of the log, and what one transaction adds to the database and the log.
  private static let margin = 128 << 10

  /// The most bytes that one original may have.
  var largest: Int { limit / 4 }

  /// The bytes that have to go before so many more fit.
  func excess(adding byteCount: Int) -> Int {
    let used = bodies + pages + max(log, Self.logByteCount(limit)) + Self.margin
    return max(0, used + Self.rounded(byteCount) - limit)
  }

  static func rounded(_ byteCount: Int) -> Int { (byteCount + 4095) & ~4095 }
}
