/// The first 128 bits of the SHA-256 over an original's kind, id and audience, by which the index
/// finds it. The names of its files are made of them too, so that a record suffices to remove them.
package struct OriginalDigest: Hashable, Sendable {
  package let low: UInt64
  package let high: UInt64

  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }
}

/// What the index keeps of one original: what changes, and what is asked before the file is read.
///
/// A record only hints. It speaks for a file whose content hash is `contentHash`, and for no other.
/// In memory it takes 72 bytes, so times are whole seconds since 1970 and end in the year 2106.
package struct OriginalRecord: Hashable, Sendable {
  package struct Flags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Only the first bytes are there.
    package static let partial = Flags(rawValue: 1)
    /// A stand-in, which never takes the place of a real original.
    package static let placeholder = Flags(rawValue: 2)
    /// A larger original of the same entity came; such originals are evicted before others.
    package static let outgrown = Flags(rawValue: 4)
    /// The server forbids that a stale answer is shown.
    package static let mustRevalidate = Flags(rawValue: 8)
    /// The last use is newer than the record in the file; never written.
    static let isUsed = Flags(rawValue: 16)
  }

  package var key: OriginalDigest
  /// The first 64 bits of the SHA-256 over the entity's kind and id. Two entities that share them
  /// are removed together.
  package var entity: UInt64
  package var contentHash: UInt64
  /// Microseconds since 1970, later than those of each use before it.
  package var lastUse: Int64
  /// The bytes of the file, trailer included; of a partial, those of both of its files.
  package var byteCount: UInt32
  /// Pixels; 0 where they are unknown.
  package var width: Int32
  package var height: Int32
  package var flags: Flags
  /// The first 32 bits of the SHA-256 of the audience. Two audiences that share them are removed
  /// together.
  package var audience: UInt32
  /// The second of the server's last answer.
  package var answered: UInt32
  /// For so many seconds after the answer the original is fresh.
  package var freshFor: UInt32
  package var stored: UInt32

  package init(
    key: OriginalDigest, entity: UInt64, audience: UInt32, contentHash: UInt64, byteCount: UInt32,
    width: Int32 = 0, height: Int32 = 0, flags: Flags = [], answered: UInt32 = 0,
    freshFor: UInt32 = 0, stored: UInt32 = 0, lastUse: Int64 = 0
  ) {
    (self.key, self.entity, self.audience) = (key, entity, audience)
    (self.contentHash, self.byteCount) = (contentHash, byteCount)
    (self.width, self.height, self.flags) = (width, height, flags)
    (self.answered, self.freshFor, self.stored) = (answered, freshFor, stored)
    self.lastUse = lastUse
  }
}

extension OriginalRecord {
  /// For so many seconds behind its freshness the original may be used while it is revalidated; down
  /// to three digits, at most 193 days.
  package var staleWhileRevalidate: UInt32 {
    get { Self.unpacked(flags.rawValue >> 6) }
    set { setGrace(newValue, 6) }
  }

  /// For so many seconds behind its freshness the original may be used when the server fails; as
  /// above.
  package var staleIfError: UInt32 {
    get { Self.unpacked(flags.rawValue >> 19) }
    set { setGrace(newValue, 19) }
  }

  private mutating func setGrace(_ seconds: UInt32, _ shift: UInt32) {
    let others = flags.rawValue & ~(0x1fff << shift)
    flags = Flags(rawValue: others | Self.packed(seconds) << shift)
  }

  /// Thirteen bits: nine of the number, and by how many it was shifted.
  private static func packed(_ seconds: UInt32) -> UInt32 {
    let shift = UInt32(max(0, 23 - seconds.leadingZeroBitCount))
    return shift > 15 ? 0x1fff : shift << 9 | seconds >> shift
  }

  private static func unpacked(_ word: UInt32) -> UInt32 { (word & 0x1ff) << (word >> 9 & 15) }
}
