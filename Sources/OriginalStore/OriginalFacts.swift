package import Foundation
package import TableStore

/// What stands beside the bytes of an original, and never changes.
package struct OriginalFacts: Hashable, Sendable {
  package var entity: TableID
  /// Pixels; 0 where they are unknown.
  package var width: Int32
  package var height: Int32
  /// A stand-in, which never takes the place of a real original.
  package var isPlaceholder: Bool
  /// What the server said, in bytes that mean nothing here; at most 4 KiB.
  package var terms: [UInt8]
  /// Seconds since 1970.
  package var stored: Int64

  package init(
    entity: TableID, width: Int32 = 0, height: Int32 = 0, isPlaceholder: Bool = false,
    terms: [UInt8] = [], stored: Int64
  ) {
    self.entity = entity
    (self.width, self.height, self.isPlaceholder) = (width, height, isPlaceholder)
    (self.terms, self.stored) = (terms, stored)
  }
}

/// An original as it was read: its file proved each byte.
package struct ProvenOriginal: Sendable {
  package let content: Data
  package let facts: OriginalFacts
  /// The id under which it is kept.
  package let id: TableID
  /// As in its key.
  let subject: [UInt8]
  /// A record speaks for this file only if it has the same hash.
  package let contentHash: UInt64
  /// The bytes of the file, trailer included.
  package let byteCount: Int

  /// The SHA-256 of its audience.
  package var audienceHash: ArraySlice<UInt8> { subject.prefix(SHA256.byteCount) }
}

/// What stands under the name of an original.
package enum OriginalReading: Sendable {
  case missing
  /// Something that does not prove itself: damage, another's file, a link, a pipe. Removing it harms
  /// nobody.
  case damaged
  case whole(ProvenOriginal)
}
