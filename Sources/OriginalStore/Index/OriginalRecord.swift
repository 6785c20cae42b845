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
