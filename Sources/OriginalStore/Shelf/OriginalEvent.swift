package import TableStore

/// What happened to an original; its id where it is known without reading the file.
package enum OriginalEvent: Hashable, Sendable {
  case stored(TableID)
  case removed(TableID)
  case damaged(TableID)
  /// It was not kept; the reason is a sentence.
  case refused(TableID, String)
  case evicted
  case expired
}

/// How long originals are kept, whatever their servers say.
package struct KeepTime: Hashable, Sendable {
  package var seconds: Int64
  /// Otherwise from the moment at which the original was stored.
  package var countsFromLastUse: Bool

  package init(seconds: Int64, countsFromLastUse: Bool) {
    (self.seconds, self.countsFromLastUse) = (seconds, countsFromLastUse)
  }

  /// - Parameter now: Microseconds since 1970.
  func isOver(_ record: OriginalRecord, now: Int64) -> Bool {
    isOver(from: countsFromLastUse ? record.lastUse / 1_000_000 : Int64(record.stored), now: now)
  }

  /// - Parameter begin: Seconds since 1970.
  func isOver(from begin: Int64, now: Int64) -> Bool {
    // Moments that are yet to come say that the clock was put back.
    let age = (now / 1_000_000).subtractingReportingOverflow(begin)
    return !age.overflow && age.partialValue >= seconds
  }
}

/// What the server's word on freshness comes to, in the numbers of a record.
package struct RecordedFreshness: Hashable, Sendable {
  /// Seconds since 1970.
  package var answered: UInt32
  package var freshFor: UInt32
  package var staleWhileRevalidate: UInt32
  package var staleIfError: UInt32
  package var mustRevalidate: Bool

  package init(
    answered: UInt32 = 0, freshFor: UInt32 = 0, staleWhileRevalidate: UInt32 = 0,
    staleIfError: UInt32 = 0, mustRevalidate: Bool = false
  ) {
    (self.answered, self.freshFor) = (answered, freshFor)
    (self.staleWhileRevalidate, self.staleIfError) = (staleWhileRevalidate, staleIfError)
    self.mustRevalidate = mustRevalidate
  }
}

extension OriginalRecord {
  package var freshness: RecordedFreshness {
    get {
      RecordedFreshness(
        answered: answered, freshFor: freshFor, staleWhileRevalidate: staleWhileRevalidate,
        staleIfError: staleIfError, mustRevalidate: flags.contains(.mustRevalidate))
    }
    set {
      (answered, freshFor) = (newValue.answered, newValue.freshFor)
      staleWhileRevalidate = newValue.staleWhileRevalidate
      staleIfError = newValue.staleIfError
      if newValue.mustRevalidate {
        flags.insert(.mustRevalidate)
      } else {
        flags.remove(.mustRevalidate)
      }
    }
  }

  /// The record of an original with these facts.
  init(
    _ key: OriginalDigest, _ facts: OriginalFacts, audienceHash: some Sequence<UInt8>,
    contentHash: UInt64, byteCount: Int, lastUse: Int64
  ) {
    self.init(
      key: key, entity: Self.digest(of: facts.entity), audience: Self.digest(of: audienceHash),
      contentHash: contentHash, byteCount: UInt32(clamping: byteCount), width: facts.width,
      height: facts.height, flags: facts.isPlaceholder ? .placeholder : [],
      stored: UInt32(clamping: facts.stored), lastUse: lastUse)
  }

  /// The first 64 bits of the SHA-256 of an entity.
  package static func digest(of entity: TableID) -> UInt64 {
    SHA256.hash(entity.kindAndBytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The first 32 bits of the SHA-256 of an audience.
  static func digest(of audienceHash: some Sequence<UInt8>) -> UInt32 {
    audienceHash.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
